import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { blobOfValue } from '../../../catalog/blobs/index.ts';
import { CatalogServerMetrics, ControllerMetrics, systemClock } from '../../../core/controller.ts';
import {
  issueCertificateAuthority,
  issueServingCertificate,
} from '../../../core/platform/certificates/index.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { CatalogContent } from '../content/catalog-content.ts';
import type { CatalogKey } from '../content/content-store.ts';
import { writeContent } from '../content/write-content.ts';
import { catalogServer } from './catalog-server.ts';
import { ServedCatalogs } from './served-catalogs.ts';

let directory: string;
let served: ServedCatalogs;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalog-server-'));
  served = new ServedCatalogs(systemClock);
});
afterEach(async () => {
  await served.close();
  await rm(directory, { recursive: true });
});

/** Serves a catalog with one package. */
async function serve(key: CatalogKey, packageName: string, priority = 0): Promise<void> {
  const folder = join(directory, `${key.kind}-${key.name}-${packageName}`);
  await mkdir(folder);
  async function* blobs() {
    yield blobOfValue({ schema: 'olm.package', name: packageName });
  }
  const { signal } = new AbortController();
  await writeContent(folder, blobs(), { limits: { maxBlobs: 9, maxNameBytes: 999 }, signal });
  served.note({ ...key, labels: {}, priority });
  const resolvedRef = `reg.example/${packageName}@sha256:1`;
  const state = { uid: 'uid', ref: 'x', resolvedRef, unpackedAt: 1 };
  await served.serve(key, { state, content: await CatalogContent.open(folder) });
}

type Tls = Parameters<typeof catalogServer>[0]['tls'];

async function start(tls?: Tls, metrics?: CatalogServerMetrics): Promise<number> {
  const { runnable, listening } = catalogServer({
    find: (requested) => served.find(requested),
    address: { host: '127.0.0.1', port: 0 },
    tls,
    metrics,
    clock: systemClock,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const running = runnable.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return (await listening).port;
}

async function nameAt(port: number, path: string): Promise<string | number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const text = await response.text();
  return response.status === 200 ? (JSON.parse(text) as { name: string }).name : response.status;
}

test('catalogs of both kinds and one name have each their path', async () => {
  await serve({ kind: 'Catalog', name: 'shop' }, 'of-catalog');
  await serve({ kind: 'ClusterCatalog', name: 'shop' }, 'of-cluster-catalog');
  const port = await start();
  expect(await nameAt(port, '/catalogs/shop/all.json')).toBe('of-catalog');
  expect(await nameAt(port, '/catalogs/shop/api/v1/all')).toBe('of-cluster-catalog');
  await served.remove({ kind: 'Catalog', name: 'shop' });
  expect(await nameAt(port, '/catalogs/shop/all.json')).toBe('of-cluster-catalog');
  await served.switchOff({ kind: 'ClusterCatalog', name: 'shop' }, 'off');
  expect(await nameAt(port, '/catalogs/shop/all.json')).toBe(404);
});

test('requests are measured as by catalogd', async () => {
  const exposition = new ControllerMetrics();
  const port = await start(undefined, new CatalogServerMetrics(exposition.registry));
  expect(await nameAt(port, '/catalogs/nowhere/all.json')).toBe(404);
  await eventually(async () => {
    const { body } = await exposition.render();
    expect(body).toContain('catalogd_http_request_duration_seconds_bucket{le="3.6",code="404"} 1');
  });
});

test('idle clients cannot hold all connections; closed ones are free again', {
  tags: ['slow'],
}, async () => {
  await serve({ kind: 'Catalog', name: 'shop' }, 'a');
  const port = await start();
  const greedy = ['127.0.0.1', '127.0.0.3'].flatMap((localAddress) =>
    Array.from({ length: 300 }, () =>
      connect({ host: '127.0.0.1', port, localAddress })
        .on('error', () => undefined)
        .resume(),
    ),
  );
  onTestFinished(() => greedy.forEach((socket) => socket.destroy()));
  await eventually(() => expect(greedy.filter(({ closed }) => closed)).toHaveLength(88));
  const dispatcher = new Agent({ localAddress: '127.0.0.2' });
  onTestFinished(() => dispatcher.close());
  const url = `http://127.0.0.1:${port}/catalogs/shop/all.json`;
  const response = await request(url, { dispatcher });
  expect(await response.body.text()).toBe('{"name":"a","schema":"olm.package"}\n');
  for (const socket of greedy) socket.destroy();
  await eventually(async () => {
    expect(await nameAt(port, '/catalogs/shop/all.json')).toBe('a');
  });
});

test('is served over TLS', async () => {
  await serve({ kind: 'Catalog', name: 'shop' }, 'a');
  const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
  const authority = await issueCertificateAuthority(validity);
  const leaf = await issueServingCertificate(authority, ['localhost'], validity);
  const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  await writeFile(files.certFile, leaf.certificate);
  await writeFile(files.keyFile, leaf.privateKey);
  const port = await start(files);
  const dispatcher = new Agent({ connect: { ca: authority.certificate, servername: 'localhost' } });
  const response = await request(`https://127.0.0.1:${port}/catalogs/shop/all.json`, {
    dispatcher,
  });
  expect(await response.body.text()).toBe('{"name":"a","schema":"olm.package"}\n');
  await dispatcher.close();
});

test('catalogs are listed by priority, and then by name', async () => {
  await serve({ kind: 'ClusterCatalog', name: 'b' }, 'p');
  await serve({ kind: 'ClusterCatalog', name: 'a' }, 'p', -1);
  await serve({ kind: 'Catalog', name: 'c' }, 'p');
  served.note({ kind: 'Catalog', name: 'd', labels: {}, priority: 0 });
  expect(served.serving().map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  expect(served.absent()).toMatchObject([{ name: 'd', state: 'Pending', problem: '' }]);
  const found = await served.findPackage('p', ({ kind }) => kind === 'ClusterCatalog');
  expect(found.map(({ catalog }) => catalog.name)).toEqual(['b', 'a']);
});
