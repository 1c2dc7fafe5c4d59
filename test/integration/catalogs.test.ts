import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { packageBlobs } from '../helpers/catalog-reconciler-fixture.ts';
import { CatalogReplica, type ReplicaOptions } from '../helpers/catalog-replica.ts';
import { eventually } from '../helpers/eventually.ts';
import { installOperatorCrds, removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { pushImage } from '../helpers/push-image.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const { client, close } = connect({ kubeconfig: plane.kubeconfig, userAgent: 'catalogs-test/1' });
const repository = `${plane.registry}/catalogs-test/${Date.now()}`;
const catalogKind = 'catalogs.catalogd.operatorframework.io';
const clusterCatalogKind = 'clustercatalogs.olm.operatorframework.io';

let namespace = '';
let drop: () => Promise<void>;
let replicas: CatalogReplica[] = [];
let created: object[] = [];
let directory = '';

beforeAll(async () => {
  await installOperatorCrds(plane.kubeconfig);
  ({ namespace, drop } = await aTestNamespace(client, 'catalogs'));
  await pushImage({
    registry: plane.registry,
    repository: repository.slice(plane.registry.length + 1),
    tag: 'unlabelled',
    layers: [{ files: { 'configs/catalog.json': packageBlobs('shop') } }],
  });
});
afterAll(async () => {
  await removeOperatorCrds(plane.kubeconfig);
  await drop();
  await close();
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalogs-test-'));
});
afterEach(async () => {
  const cleaner = await start();
  await kubectl.delete(created);
  for (const replica of [...replicas, cleaner]) await replica.stop().catch(() => undefined);
  replicas = [];
  created = [];
  await rm(directory, { recursive: true });
});

async function start(options: Partial<ReplicaOptions> = {}): Promise<CatalogReplica> {
  const { registry } = plane;
  const replica = await CatalogReplica.start({
    client,
    registry,
    systemNamespace: namespace,
    ...options,
  });
  replicas.push(replica);
  return replica;
}

async function stop(replica: CatalogReplica): Promise<void> {
  replicas = replicas.filter((other) => other !== replica);
  await replica.stop();
}

async function apply(object: object): Promise<void> {
  created.push(object);
  await kubectl.apply(object);
}

function aCatalog(name: string, image: object): object {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name },
    spec: { source: { type: 'image', image } },
  };
}

function aClusterCatalog(name: string, image: object, spec: object = {}): object {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name },
    spec: { source: { type: 'Image', image }, ...spec },
  };
}

async function condition(
  kind: string,
  name: string,
  wanted: { readonly type: string; readonly status: string; readonly message?: RegExp },
): Promise<KubernetesObject> {
  return await eventually(async () => {
    const object = await kubectl.get(kind, name);
    const { type, status, message = /^/ } = wanted;
    const found = conditionOf(object, type);
    expect(found).toMatchObject({ status, message: expect.stringMatching(message) });
    expect(found?.observedGeneration ?? object.metadata.generation).toBe(
      object.metadata.generation,
    );
    return object;
  });
}

const unpacked = { type: 'Unpacked', status: 'True' } as const;
const settled = { type: 'Progressing', status: 'True', message: /^Successfully/ } as const;

const shop = { 'shop.json': packageBlobs('shop') };
const newShop = { 'shop.json': packageBlobs('shop', '2.0.0') };

describe('a Catalog', () => {
  test('is unpacked, served and deleted', async () => {
    const replica = await start({ overrides: { unpack: undefined } });
    const resolvedRef = await pushCatalog(`${repository}:first`, {
      'a.yaml': 'schema: olm.package\nname: a\ndefaultChannel: <b>\n',
      ...shop,
    });
    await apply(aCatalog('catalogs-first', { ref: `${repository}:first` }));
    const { status } = await condition(catalogKind, 'catalogs-first', unpacked);
    expect(status).toMatchObject({
      phase: 'Unpacked',
      contentURL: 'http://catalogs.example/catalogs/catalogs-first/all.json',
      resolvedSource: { type: 'image', image: { ref: `${repository}:first`, resolvedRef } },
    });
    const all = await replica.get('/catalogs/catalogs-first/all.json');
    const text = await all.text();
    expect(text.split('\n')[0]).toBe('{"defaultChannel":"<b>","name":"a","schema":"olm.package"}');
    const metas = await replica.get('/catalogs/catalogs-first/api/v1/metas?schema=olm.bundle', {
      range: 'bytes=0-9',
    });
    expect([metas.status, (await metas.text()).length]).toEqual([206, 10]);
    const known = { 'if-none-match': all.headers.get('etag') ?? '' };
    const again = await replica.get('/catalogs/catalogs-first/all.json', known);
    expect(again.status).toBe(304);
    const [found] = await replica.controllers.contents.findPackage('shop', () => true);
    expect(found).toMatchObject({ content: { bundles: [{ name: 'shop.v1.0.0' }] } });
    const { stdout } = await kubectl.run(['get', catalogKind, 'catalogs-first']);
    expect(stdout).toMatch(/PHASE.*\n.*Unpacked/);
    await kubectl.delete([aCatalog('catalogs-first', {})]);
    expect((await replica.get('/catalogs/catalogs-first/all.json')).status).toBe(404);
  });

  test('follows its tag, and serves the old content while the new one is broken', async () => {
    const replica = await start();
    const ref = `${repository}:moving`;
    const first = await pushCatalog(ref, shop);
    await apply(aCatalog('catalogs-moving', { ref, pollInterval: '1s' }));
    await condition(catalogKind, 'catalogs-moving', unpacked);
    await pushCatalog(ref, { 'README.md': '# No catalog' });
    const message =
      /^failed to store bundle: error storing fbc: error in parsing catalog content files in the filesystem: /;
    const failed = { type: 'Unpacked', status: 'False', message };
    const { status } = await condition(catalogKind, 'catalogs-moving', failed);
    expect(status).toMatchObject({ phase: 'Failing' });
    expect(await replica.blobsOf('catalogs-moving')).toHaveLength(3);
    expect(replica.controllers.contents.serving()).toMatchObject([{ resolvedRef: first }]);
    const changed: string[] = [];
    replica.controllers.contents.onChange(({ packages }) => changed.push(...packages));
    await pushCatalog(ref, newShop);
    await condition(catalogKind, 'catalogs-moving', unpacked);
    expect(JSON.stringify(await replica.blobsOf('catalogs-moving'))).toContain('shop.v2.0.0');
    expect(changed).toEqual(['shop']);
  });

  test.each([
    [
      'a missing tag',
      { ref: `${repository}:nowhere` },
      /^source bundle content: error fetching image descriptor: HEAD http:.*\/manifests\/nowhere: unexpected status code 404 Not Found \(HEAD/,
    ],
    [
      'an image that is no catalog',
      { ref: `${repository}:unlabelled` },
      /^source bundle content: error unpacking image: catalog image ".*:unlabelled" is missing the required label "operators\.operatorframework\.io\.index\.configs\.v1"$/,
    ],
    [
      'a bad reference',
      { ref: 'A B' },
      /: error parsing image reference: could not parse reference: A B$/,
    ],
    [
      'a bad interval',
      { ref: `${repository}:first`, pollInterval: '1d' },
      /^source bundle content: spec\.source\.image\.pollInterval "1d" is not a duration/,
    ],
  ])('with %s says so, and is deleted all the same', async (_, image, message) => {
    await start();
    await apply(aCatalog('catalogs-odd', image));
    const failed = { type: 'Unpacked', status: 'False', message };
    await condition(catalogKind, 'catalogs-odd', failed);
  });
});

describe('a restart', () => {
  test('with the disk asks the registry for nothing', async () => {
    const ref = `${repository}:restarted`;
    const cacheDir = join(directory, 'cache');
    const former = await start({ cacheDir });
    await pushCatalog(ref, shop);
    await apply(aCatalog('catalogs-restarted', { ref, pollInterval: '1h' }));
    const before = await condition(catalogKind, 'catalogs-restarted', unpacked);
    await stop(former);
    await pushCatalog(ref, newShop);
    const next = await start({ cacheDir });
    await eventually(async () => await next.blobsOf('catalogs-restarted'));
    expect(JSON.stringify(await next.blobsOf('catalogs-restarted'))).toContain('shop.v1.0.0');
    const after = await kubectl.get(catalogKind, 'catalogs-restarted');
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('without the disk unpacks again', async () => {
    const ref = `${repository}:lost`;
    const former = await start();
    await pushCatalog(ref, shop);
    await apply(aClusterCatalog('catalogs-lost', { ref }));
    await condition(clusterCatalogKind, 'catalogs-lost', settled);
    await stop(former);
    const next = await start();
    await eventually(async () => await next.blobsOf('catalogs-lost'));
  });
});

test('a replica that does not lead serves what the leader has resolved', async () => {
  const ref = `${repository}:replicas`;
  const leader = await start();
  await pushCatalog(ref, shop);
  await apply(aClusterCatalog('catalogs-replicas', { ref }, { priority: 3 }));
  await condition(clusterCatalogKind, 'catalogs-replicas', settled);
  await pushCatalog(ref, newShop);
  const follower = await start({ isFollower: true });
  await eventually(async () => await follower.blobsOf('catalogs-replicas'));
  expect(await follower.blobsOf('catalogs-replicas')).toEqual(
    await leader.blobsOf('catalogs-replicas'),
  );
  expect(follower.controllers.contents.serving()).toMatchObject([{ priority: 3 }]);
});

describe('a ClusterCatalog', () => {
  test('is switched off and on', async () => {
    const replica = await start();
    const ref = `${repository}:switched`;
    const resolvedRef = await pushCatalog(ref, {
      'large.json': packageBlobs('a', '1.0.0', 'x'.repeat(3000)),
    });
    await apply(aClusterCatalog('catalogs-switched', { ref }));
    const { status } = await condition(clusterCatalogKind, 'catalogs-switched', settled);
    expect(status).toMatchObject({
      resolvedSource: { type: 'Image', image: { ref: resolvedRef } },
      urls: { base: 'http://catalogs.example/catalogs/catalogs-switched' },
      lastUnpacked: expect.any(String),
    });
    const path = '/catalogs/catalogs-switched/api/v1/all';
    const response = await replica.get(path, { 'accept-encoding': 'gzip' });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    await apply(aClusterCatalog('catalogs-switched', { ref }, { availabilityMode: 'Unavailable' }));
    const off = { type: 'Serving', status: 'False', message: /set to Unavailable$/ };
    await condition(clusterCatalogKind, 'catalogs-switched', off);
    expect((await replica.get(path)).status).toBe(404);
    await apply(aClusterCatalog('catalogs-switched', { ref }, { availabilityMode: 'Available' }));
    await condition(clusterCatalogKind, 'catalogs-switched', settled);
    expect((await replica.get(path)).status).toBe(200);
  });

  test('of a digest needs no tag', async () => {
    const replica = await start();
    const ref = await pushCatalog(`${repository}:pinned`, shop);
    await apply(aClusterCatalog('catalogs-pinned', { ref }));
    await condition(clusterCatalogKind, 'catalogs-pinned', settled);
    expect(await replica.blobsOf('catalogs-pinned')).toHaveLength(3);
  });

  test('uses the credentials of a pull secret', async () => {
    // alice's password is "correct horse".
    const htpasswd = 'alice:$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e\n';
    const own = await OwnRegistry.start({ dir: directory, htpasswd });
    try {
      const credentials = { username: 'alice', password: 'correct horse' };
      const ref = `${own.host}/shop:v1`;
      await pushCatalog(ref, shop, credentials);
      const replica = await start({ registry: own.host });
      await apply(aClusterCatalog('catalogs-private', { ref, pullSecret: 'catalogs-private' }));
      const denied = /^source catalog content: .*unexpected status code 401 Unauthorized/;
      const refused = { type: 'Progressing', status: 'True', message: denied };
      await condition(clusterCatalogKind, 'catalogs-private', refused);
      await apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'catalogs-private', namespace },
        type: 'kubernetes.io/dockerconfigjson',
        stringData: {
          '.dockerconfigjson': JSON.stringify({ auths: { [own.host]: credentials } }),
        },
      });
      await condition(clusterCatalogKind, 'catalogs-private', settled);
      expect(await replica.blobsOf('catalogs-private')).toHaveLength(3);
    } finally {
      await own.stop();
    }
  });
});
