import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  connect,
  isAlreadyExists,
  isConflict,
  isNotFound,
} from '../../core/platform/kube/index.ts';
import { addFinalizer, removeFinalizer } from '../../core/platform/runtime/index.ts';
import { plane } from '../helpers/plane.ts';
import { aTestNamespace, configMapResource as resource } from '../helpers/test-namespace.ts';

const { client, discovery, server, close } = connect({
  kubeconfig: plane.kubeconfig,
  userAgent: 'rukpak-test/1',
});
let namespace = '';
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ namespace, drop } = await aTestNamespace(client, 'kube-client'));
});

afterAll(async () => {
  await drop();
  await close();
});

function aConfigMap(name: string, fields: object = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, ...fields };
}

describe('KubeClient', () => {
  test('creates, reads, updates, patches and deletes', async () => {
    const key = { namespace, name: 'life' };
    const created = await client.create(resource, aConfigMap('life', { data: { a: '1' } }));
    expect(await client.get(resource, key)).toEqual(created);
    const updated = await client.update(resource, { ...created, data: { a: '2' } });
    expect(updated['data']).toEqual({ a: '2' });
    await expect(client.update(resource, created)).rejects.toSatisfy(isConflict);
    await expect(client.create(resource, aConfigMap('life'))).rejects.toSatisfy(isAlreadyExists);
    const target = { resource, key };
    const merged = await client.patch(target, { data: { b: '3' } }, { type: 'merge' });
    expect(merged['data']).toEqual({ a: '2', b: '3' });
    const operations = [
      { op: 'test', path: '/metadata/uid', value: created.metadata.uid },
      { op: 'remove', path: '/data/a' },
    ];
    const patched = await client.patch(target, operations, { type: 'json' });
    expect(patched['data']).toEqual({ b: '3' });
    await expect(client.delete(resource, key, { uid: 'another' })).rejects.toSatisfy(isConflict);
    await client.delete(resource, key, { dryRun: true });
    expect(await client.get(resource, key)).toMatchObject({
      metadata: { uid: created.metadata.uid },
    });
    await client.delete(resource, key, { uid: created.metadata.uid ?? '' });
    await expect(client.get(resource, key)).rejects.toSatisfy(isNotFound);
    await expect(client.delete(resource, key)).rejects.toThrow('configmaps "life" not found');
  });

  test('applies as a field manager, dry run and force included', async () => {
    const wanted = aConfigMap('applied', { data: { a: '1' } });
    const dry = await client.apply(resource, wanted, { fieldManager: 'one', dryRun: true });
    expect(dry['data']).toEqual({ a: '1' });
    const key = { namespace, name: 'applied' };
    await expect(client.get(resource, key)).rejects.toSatisfy(isNotFound);
    await client.apply(resource, wanted, { fieldManager: 'one' });
    const other = aConfigMap('applied', { data: { a: '2' } });
    await expect(client.apply(resource, other, { fieldManager: 'two' })).rejects.toThrow(
      'conflict with "one": .data.a',
    );
    const forced = await client.apply(resource, other, { fieldManager: 'two', force: true });
    expect(forced['data']).toEqual({ a: '2' });
  });

  test('lists by pages and selectors', async () => {
    for (const name of ['l1', 'l2', 'l3']) {
      const labels = { page: 'yes' };
      await client.create(resource, { ...aConfigMap(name), metadata: { name, namespace, labels } });
    }
    const options = { namespace, labelSelector: 'page=yes', limit: 2 };
    const first = await client.list(resource, options);
    expect(first.items.map(({ kind }) => kind)).toEqual(['ConfigMap', 'ConfigMap']);
    const second = await client.list(resource, {
      ...options,
      continue: first.metadata.continue ?? '',
    });
    expect([...first.items, ...second.items].map(({ metadata }) => metadata.name)).toEqual([
      'l1',
      'l2',
      'l3',
    ]);
    expect(second.metadata.continue).toBeUndefined();
  });

  test('has a hundred requests and seventy watches at once', async () => {
    const abort = new AbortController();
    const options = { namespace, resourceVersion: '0', timeoutSeconds: 60, signal: abort.signal };
    const watches = Array.from({ length: 70 }, () =>
      client.watch(resource, options)[Symbol.asyncIterator](),
    );
    // Each is open once it has told of the first object.
    await Promise.all(watches.map(async (watch) => await watch.next()));
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    await Promise.all(names.map(async (name) => await client.create(resource, aConfigMap(name))));
    abort.abort();
    await Promise.allSettled(watches.map(async (watch) => await watch.return?.()));
    const { items } = await client.list(resource, { namespace });
    expect(items.filter(({ metadata }) => metadata.name?.startsWith('many-'))).toHaveLength(100);
  });

  test('reads large answers', async () => {
    const data = { text: 'x'.repeat(900_000) };
    await client.create(resource, aConfigMap('large', { data }));
    expect((await client.get(resource, { namespace, name: 'large' }))['data']).toEqual(data);
  });

  test("gets the API server's reason for a refusal", async () => {
    const refused = client.create(resource, aConfigMap('Not a name'));
    await expect(refused).rejects.toThrow('ConfigMap "Not a name" is invalid: metadata.name');
    await expect(refused).rejects.toMatchObject({ code: 422, status: { reason: 'Invalid' } });
  });

  test('asks for anything else', async () => {
    expect(await client.request({ method: 'GET', path: '/readyz' })).toBe('ok');
    expect(await client.request({ method: 'GET', path: '/version' })).toMatchObject({
      major: '1',
    });
    expect(server).toMatch(/^https:\/\//);
  });
});

describe('Discovery', () => {
  test('finds built-in kinds', async () => {
    expect(
      await discovery.resourceFor({ group: 'apps', version: 'v1', kind: 'Deployment' }),
    ).toEqual({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      plural: 'deployments',
      namespaced: true,
    });
    expect(await discovery.resourceForGroupKind('', 'Namespace')).toMatchObject({
      version: 'v1',
      namespaced: false,
    });
    expect(await discovery.resourceForGroupKind('nowhere.example.com', 'X')).toBeUndefined();
  });
});

describe('connect', () => {
  test('goes through the proxy of the kubeconfig', async () => {
    const tunnels: (string | undefined)[] = [];
    const proxy = createServer().on('connect', (request, socket: Duplex) => {
      tunnels.push(request.url);
      const [host, port] = (request.url ?? '').split(':');
      const upstream = createConnection({ host: host ?? '', port: Number(port) }, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      for (const end of [upstream, socket]) end.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-proxy-'));
    const kubeconfig = join(folder, 'kubeconfig');
    const text = await readFile(plane.kubeconfig, 'utf8');
    const through = `$&\n$1proxy-url: http://127.0.0.1:${port}`;
    await writeFile(kubeconfig, text.replace(/^( *)server: .*/m, through));
    const proxied = connect({ kubeconfig, userAgent: 'rukpak-test/1' });
    expect(await proxied.client.request({ method: 'GET', path: '/readyz' })).toBe('ok');
    expect(new Set(tunnels)).toEqual(new Set([new URL(server).host]));
    await proxied.close();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    await rm(folder, { recursive: true });
  });
});

describe('finalizers', () => {
  test('hold a deleted object until the last one is removed', async () => {
    const target = { client, resource, signal: AbortSignal.timeout(240_000) };
    const created = await client.create(resource, aConfigMap('held'));
    const held = await addFinalizer(target, created, 'example.com/test');
    await expect(addFinalizer(target, created, 'example.com/other')).rejects.toSatisfy(isConflict);
    await client.delete(resource, { namespace, name: 'held' });
    const deleting = await client.get(resource, { namespace, name: 'held' });
    expect(deleting.metadata).toMatchObject({ finalizers: held?.metadata.finalizers });
    await removeFinalizer(target, deleting, 'example.com/test');
    await expect(client.get(resource, { namespace, name: 'held' })).rejects.toSatisfy(isNotFound);
    expect(await removeFinalizer(target, deleting, 'example.com/test')).toBeUndefined();
  });
});
