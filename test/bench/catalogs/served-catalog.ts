import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCatalogImage } from '../../../catalog/images/index.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import { FakeRegistry } from '../../helpers/fake-registry.ts';
import { type Row, report, rounded } from '../report.ts';
import { copyCatalog } from './copied-catalog.ts';

const { signal } = new AbortController();

/** Memory of a process that unpacks and serves a large catalog, and the times of its packages. */
export async function benchServedCatalog(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      bundles: { type: 'string', default: '7000' },
      runs: { type: 'string', default: '3' },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'bench-served-'));
  const registry = await FakeRegistry.start();
  try {
    const made = await copyCatalog(join(folder, 'source'), Number(values.bundles));
    console.error(`${made.bundles} bundles, ${made.packages} packages, ${made.bytes} bytes`);
    await addCatalog(registry, folder);
    const runs: Row[] = [];
    for (let run = 0; run < Number(values.runs); run += 1) {
      runs.push(await measure(registry.host, join(folder, `cache-${run}`)));
    }
    report('served catalog', runs);
  } finally {
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** By way of a layout: the registry's fake takes no pushes. */
async function addCatalog(registry: FakeRegistry, folder: string): Promise<void> {
  const access = new RegistryAccess({
    insecureRegistries: [],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const layout = join(folder, 'layout');
  const image = await buildCatalogImage(join(folder, 'source'), { signal });
  const { target } = await access.openTarget(`oci:${layout}`);
  await image.push(target, undefined, signal);
  await image.close();
  await target.close();
  const { mediaType, digest } = image.descriptor;
  const blob = async (of: string): Promise<Buffer> =>
    await readFile(join(layout, 'blobs', of.replace(':', '/')));
  const manifest = JSON.parse((await blob(digest)).toString()) as {
    config: { digest: string };
    layers: { digest: string }[];
  };
  for (const part of [manifest.config, ...manifest.layers]) {
    registry.addBlob(await blob(part.digest), 'application/octet-stream');
  }
  registry.addManifest(manifest, { mediaType, tag: 'v1' });
}

interface Measured {
  readonly before: number;
  readonly served: number;
  readonly used: number;
  readonly unpacked: number;
  readonly bytes: number;
  readonly packages: number;
  readonly slowest: number;
  readonly perPackage: number;
  readonly delay: number;
}

async function measure(registry: string, cacheDir: string): Promise<Row> {
  const child = fork(join(import.meta.dirname, 'served-catalog-process.ts'), [registry, cacheDir]);
  const [measured] = (await once(child, 'message')) as [Measured];
  await once(child, 'exit');
  return {
    packages: measured.packages,
    'MiB served': rounded(measured.bytes / 1024 / 1024),
    'MiB without': rounded(measured.before),
    'MiB more, served': rounded(measured.served - measured.before),
    'MiB more, read': rounded(measured.used - measured.before),
    's to unpack': rounded(measured.unpacked, 2),
    'CPU ms a package': rounded(measured.perPackage, 2),
    'ms slowest package': rounded(measured.slowest),
    'ms longest delay': rounded(measured.delay),
  };
}
