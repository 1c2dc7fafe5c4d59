import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import {
  ApiError,
  connect,
  type KubeClient,
  Reflector,
  type ReflectorOptions,
} from '../../core/platform/kube/index.ts';
import { IndexedCache } from '../../core/platform/runtime/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { aTestNamespace, configMapResource as resource } from '../helpers/test-namespace.ts';

const { client, close } = connect({
  kubeconfig: plane.kubeconfig,
  userAgent: 'rukpak-test/1',
});
let namespace = '';
let drop: () => Promise<void>;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  ({ namespace, drop } = await aTestNamespace(client, 'reflector'));
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

afterAll(async () => {
  await drop();
  await close();
});

function aConfigMap(name: string, fields: object = {}) {
  const metadata = { name, namespace, labels: { test: 'reflector' } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...fields };
}

type Reading = Pick<KubeClient, 'list' | 'watch'>;

/** A server that only streams its lists: it must not be asked for one. */
const streamsOnly: Reading = {
  list: () => Promise.reject(new Error('nobody asks for a list')),
  watch: (...request) => client.watch(...request),
};

/** A server from before lists were streamed. */
const listsOnly: Reading = {
  list: (...request) => client.list(...request),
  watch: (of, options) => {
    if (options.sendInitialEvents === true) throw new ApiError(422, { reason: 'Invalid' });
    return client.watch(of, options);
  },
};

async function start(pageSize = 2, metadataOnly = false, from: Reading = client) {
  const cache = new IndexedCache();
  const changes: string[] = [];
  cache.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
  const reflector = new Reflector({
    client: from,
    resource,
    namespace,
    labelSelector: 'test=reflector',
    sink: cache,
    clock: systemClock,
    logger: silentLogger,
    pageSize,
    metadataOnly,
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  stops.push(async () => {
    abort.abort();
    await running;
  });
  await reflector.whenSynced(AbortSignal.timeout(240_000));
  return { cache, changes, reflector };
}

describe('Reflector', () => {
  test.each([
    ['begins with everything in one stream', streamsOnly],
    ['lists by pages', listsOnly],
  ])('%s, follows, and keeps to its selector', async (_, from) => {
    for (const name of ['a', 'b', 'c']) await client.create(resource, aConfigMap(name));
    const { cache, changes } = await start(2, false, from);
    expect(changes).toEqual(['added a', 'added b', 'added c']);
    await client.patch(
      { resource, key: { namespace, name: 'a' } },
      { data: { x: '1' } },
      { type: 'merge' },
    );
    await client.delete(resource, { namespace, name: 'b' });
    const unlabelled = { metadata: { labels: null } };
    const target = { resource, key: { namespace, name: 'c' } };
    await client.patch(target, unlabelled, { type: 'merge' });
    await eventually(() =>
      expect(changes.slice(3)).toEqual(['updated a', 'deleted b', 'deleted c']),
    );
    const held = cache.get({ namespace, name: 'a' });
    expect(held?.['data']).toEqual({ x: '1' });
    expect(held?.kind).toBe('ConfigMap');
    expect(held?.metadata).not.toHaveProperty('managedFields');
    for (const name of ['a', 'c']) await client.delete(resource, { namespace, name });
  });

  test('may follow metadata alone', async () => {
    await client.create(resource, aConfigMap('listed', { data: { x: '1' } }));
    const { cache } = await start(1, true);
    await client.create(resource, aConfigMap('watched', { data: { x: '1' } }));
    const watched = await eventually(() => {
      const found = cache.get({ namespace, name: 'watched' });
      if (found === undefined) throw new Error('not seen yet');
      return found;
    });
    for (const object of [watched, cache.get({ namespace, name: 'listed' })]) {
      expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
      expect(object).not.toHaveProperty('data');
    }
    for (const name of ['listed', 'watched']) await client.delete(resource, { namespace, name });
  });

  test('the answers to our own writes and the watch agree', async () => {
    const { cache, changes } = await start(500);
    changes.length = 0;
    const key = { namespace, name: 'own' };
    cache.upsertIfNewer(await client.create(resource, aConfigMap('own')));
    for (let round = 0; round < 10; round++) {
      const data = { round: String(round) };
      const target = { resource, key };
      cache.upsertIfNewer(await client.patch(target, { data }, { type: 'merge' }));
      expect(cache.get(key)?.['data']).toEqual(data);
    }
    await client.delete(resource, key);
    await eventually(() => expect(cache.get(key)).toBeUndefined());
    const updates = Array.from({ length: 10 }, () => 'updated own');
    expect(changes).toEqual(['added own', ...updates, 'deleted own']);
  });

  test('comes back after its connections broke', async () => {
    const other = connect({ kubeconfig: plane.kubeconfig, userAgent: 'rukpak-test/1' });
    let broken = false;
    const current = (): typeof client => (broken ? client : other.client);
    const failing: ReflectorOptions['client'] = {
      list: async (listed, options) => await current().list(listed, options),
      watch: (watched, options) => current().watch(watched, options),
    };
    const cache = new IndexedCache();
    const reflector = new Reflector({
      client: failing,
      resource,
      namespace,
      sink: cache,
      clock: systemClock,
      logger: silentLogger,
    });
    const abort = new AbortController();
    const running = reflector.run(abort.signal);
    await reflector.whenSynced(AbortSignal.timeout(240_000));
    await client.create(resource, aConfigMap('before'));
    const has = (name: string) => expect(cache.get({ namespace, name })).toBeDefined();
    await eventually(() => has('before'));
    await other.close();
    broken = true;
    await client.create(resource, aConfigMap('after'));
    await eventually(() => has('after'));
    abort.abort();
    await running;
  });

  test('a version that the server has compacted away is listed anew', async () => {
    const cache = new IndexedCache();
    let stale = true;
    const old: ReflectorOptions['client'] = {
      watch: (watched, options) => listsOnly.watch(watched, options),
      list: async (listed, options) => {
        const list = await client.list(listed, options);
        if (!stale) return list;
        stale = false;
        // The first list pretends to be from long ago.
        return { items: list.items, metadata: { ...list.metadata, resourceVersion: '1' } };
      },
    };
    const reflector = new Reflector({
      client: old,
      resource,
      namespace,
      sink: cache,
      clock: systemClock,
      logger: silentLogger,
    });
    const abort = new AbortController();
    const running = reflector.run(abort.signal);
    await client.create(resource, aConfigMap('fresh'));
    await eventually(() => expect(cache.get({ namespace, name: 'fresh' })).toBeDefined());
    expect(stale).toBe(false);
    abort.abort();
    await running;
  });
});
