import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { blobOfValue } from '../../../catalog/blobs/index.ts';
import { writeContent } from '../../../operators/catalogs/content/write-content.ts';
import { type Row, report, rounded } from '../report.ts';

/** As an installed package runs it. */
const compiled = join(import.meta.dirname, '../../../dist');

/**
 * The first resolution of a process, in a catalog that is on the disk with its index: from the start
 * of the process to the answer.
 */
export async function benchColdResolution(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      packages: { type: 'string', default: '350' },
      /** Of each package. */
      bundles: { type: 'string', default: '20' },
      runs: { type: 'string', default: '9' },
    },
  });
  if (!existsSync(compiled)) throw new Error(`${compiled} is missing: run "npm run build" first`);
  const folder = await mkdtemp(join(tmpdir(), 'bench-cold-'));
  try {
    const names = Array.from({ length: Number(values.packages) }, (_, index) => `package-${index}`);
    const limits = { maxBlobs: 1_000_000, maxNameBytes: 1_000_000_000 };
    const { signal } = new AbortController();
    await writeContent(folder, blobsOf(names, Number(values.bundles)), { limits, signal });
    const rows: Row[] = [];
    for (let run = 0; run < Number(values.runs); run += 1) rows.push(await measure(folder));
    report('resolve-cold', rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function* blobsOf(names: readonly string[], count: number) {
  for (const name of names) {
    for (const value of packageOf(name, count)) yield await Promise.resolve(blobOfValue(value));
  }
}

function packageOf(name: string, count: number) {
  const versions = Array.from({ length: count }, (_, index) => `1.${index}.0`);
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: name, entries },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      name: `${name}.v${version}`,
      package: name,
      image: `registry.example.com/${name}@sha256:${'0'.repeat(64)}`,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }],
    })),
  ];
}

/** Processor time of the process itself, without its parent's costs of starting it. */
function program(content: string): string {
  const job = {
    places: [{ directory: content, catalog: { name: 'bench', namespace: '', priority: 0 } }],
    request: { profile: 'operator', packageName: 'package-7', channels: [], upgrades: 'semver' },
    present: [],
    unavailable: [],
  };
  return `
    const { resolveStored } = await import(${JSON.stringify(`${compiled}/operators/catalogs/resolution/resolution-job.js`)});
    const { resolution } = await resolveStored(${JSON.stringify(job)});
    const clock = performance.now();
    const { user, system } = process.cpuUsage();
    if (resolution.bundle.name !== 'package-7.v1.19.0') throw new Error(resolution.message);
    console.log(JSON.stringify({ clock, cpu: (user + system) / 1000, rss: process.memoryUsage().rss }));
  `;
}

async function measure(content: string): Promise<Row> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(content)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { clock, cpu, rss } = JSON.parse(await text(child.stdout)) as Record<
    'clock' | 'cpu' | 'rss',
    number
  >;
  return {
    'clock ms': rounded(clock),
    'CPU ms': rounded(cpu),
    MiB: rounded(rss / 1024 / 1024),
  };
}
