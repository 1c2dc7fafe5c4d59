import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildHelmEngine } from '../../../deploy/helm-engine/cached-build.ts';
import { placeHelmEngine } from '../../../deploy/helm-engine/place-engine.ts';
import { HelmCommand } from '../../helpers/helm/helm-command.ts';
import { watchMemory } from '../process-memory.ts';
import { cpuTime } from '../process-tree.ts';
import { type Row, report, rounded } from '../report.ts';
import { type BenchChart, benchCharts } from './bench-charts.ts';

const megabyte = 1_000_000;
const building = {
  onProgress: (line: string) => console.error(line),
  signal: new AbortController().signal,
};

/** Helm's engine in a process of its own beside `helm template`: time and memory of a rendering. */
export async function benchHelm(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      runs: { type: 'string', default: '7' },
      apps: { type: 'string', default: '200' },
      /** Renderings after the first one, in each run. */
      renderings: { type: 'string', default: '20' },
    },
  });
  await placeHelmEngine(building);
  await reportSize();
  const helm = await HelmCommand.create();
  try {
    for (const chart of await benchCharts(helm, Number(values.apps))) {
      const rows: Row[] = [];
      for (let run = 0; run < Number(values.runs); run += 1) {
        rows.push({
          ...(await measureCommand(helm, chart)),
          ...(await measureEngine(chart, values.renderings)),
        });
      }
      report(`helm: ${chart.name}`, rows);
    }
  } finally {
    await helm.remove();
  }
}

async function reportSize(): Promise<void> {
  const engine = await readFile(await buildHelmEngine(building));
  const row = { MB: engine.byteLength, 'MB gzip': gzipSync(engine, { level: 9 }).byteLength };
  const sizes = Object.entries(row).map(([name, size]) => [name, rounded(size / megabyte)]);
  report('helm: the engine', [Object.fromEntries(sizes) as Row]);
}

async function measureCommand(helm: HelmCommand, { folder }: BenchChart): Promise<Row> {
  const own = process.pid;
  const memory = watchMemory(() => own, 5);
  const cpuBefore = cpuTime(own).children;
  const startedAt = performance.now();
  await helm.run(['template', 'demo', folder, '--namespace', 'shop']);
  return {
    'helm ms': rounded(performance.now() - startedAt, 0),
    'helm cpu': cpuTime(own).children - cpuBefore,
    'helm MiB': rounded(memory.stop().children, 0),
  };
}

interface Measured {
  readonly objects: number;
  readonly load: Time;
  readonly first: Time;
  readonly later: Time;
  readonly resident: Readonly<Record<'without' | 'afterFirst' | 'after', number>>;
  readonly peak: number;
}

interface Time {
  readonly wall: number;
  readonly cpu: number;
}

async function measureEngine({ folder }: BenchChart, renderings: string): Promise<Row> {
  const script = join(import.meta.dirname, 'engine-process.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder, renderings]);
  const { objects, load, first, later, resident, peak } = JSON.parse(stdout) as Measured;
  return {
    objects,
    'load ms': rounded(load.wall, 0),
    'load cpu': rounded(load.cpu, 0),
    'first ms': rounded(first.wall, 0),
    'first cpu': rounded(first.cpu, 0),
    'later ms': rounded(later.wall),
    'later cpu': rounded(later.cpu),
    'MiB without': rounded(resident.without, 0),
    'MiB after first': rounded(resident.afterFirst, 0),
    'MiB after': rounded(resident.after, 0),
    'MiB peak': rounded(peak, 0),
  };
}
