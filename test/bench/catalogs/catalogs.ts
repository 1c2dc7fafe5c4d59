import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { opmBinary } from '../../helpers/opm.ts';
import { watchMemory } from '../process-memory.ts';
import { cpuTime } from '../process-tree.ts';
import { median, type Row, report, rounded } from '../report.ts';
import { copyCatalog } from './copied-catalog.ts';

/** As an installed package runs it. */
const ours = join(import.meta.dirname, '../../../dist/bundle/opm.js');

const commands: Readonly<Record<string, readonly string[]>> = {
  validate: ['validate'],
  render: ['render'],
  'render yaml': ['render', '-o', 'yaml'],
};

/**
 * Our opm beside the real one, on a catalog of many bundles: time and memory of a command. The two run
 * in turn, so that what else the machine does falls on both.
 */
export async function benchCatalogs(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      bundles: { type: 'string', default: '2000' },
      runs: { type: 'string', default: '5' },
      /** Of `commands`, comma-separated. */
      only: { type: 'string', default: Object.keys(commands).join() },
    },
  });
  if (!existsSync(ours)) throw new Error(`${ours} is missing: run "npm run build" first`);
  const folder = await mkdtemp(join(tmpdir(), 'bench-catalogs-'));
  try {
    const made = await copyCatalog(folder, Number(values.bundles));
    console.error(`${made.bundles} bundles, ${made.packages} packages, ${made.bytes} bytes`);
    const theirs = await opmBinary();
    for (const name of values.only.split(',')) {
      const args = [...(commands[name] ?? []), folder];
      const pairs: Pair[] = [];
      for (let run = 0; run < Number(values.runs); run += 1) {
        const [first, second] = [
          await measure(theirs, args),
          await measure(process.execPath, [ours, ...args]),
        ];
        pairs.push({ theirs: first, ours: second });
      }
      report(`catalogs: ${name}`, pairs.map(rowOf));
      console.log(ratios(pairs));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Of the process, by the kernel's own high-water mark. */
  readonly mebibytes: number;
}

interface Pair {
  readonly theirs: Measured;
  readonly ours: Measured;
}

function rowOf(pair: Pair): Row {
  return { ...columns('opm', pair.theirs), ...columns('ours', pair.ours) };
}

function columns(program: string, { seconds, cpuSeconds, mebibytes }: Measured): Row {
  return {
    [`${program} s`]: rounded(seconds, 2),
    [`${program} CPU s`]: rounded(cpuSeconds, 2),
    [`${program} MiB`]: rounded(mebibytes, 0),
  };
}

/** Medians of the ratios of each pair, which a busy machine changes less than times. */
function ratios(pairs: readonly Pair[]): string {
  const of = (field: keyof Measured): string =>
    median(pairs.map(({ theirs, ours: own }) => theirs[field] / own[field])).toFixed(2);
  return `opm / ours: ${of('seconds')} by the clock, ${of('cpuSeconds')} of processor time, ${of('mebibytes')} of memory`;
}

async function measure(program: string, args: readonly string[]): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(program, [...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const { pid = 0 } = child;
  let cpu = 0;
  const sampling = setInterval(() => (cpu = Math.max(cpu, ownCpu(pid))), 20);
  const memory = watchMemory(() => pid, 20);
  const [code] = await once(child, 'exit');
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(sampling);
  const peaks = memory.stop();
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
  return { seconds, cpuSeconds: cpu / 1000, mebibytes: peaks.process };
}

/** Neither program starts others. */
function ownCpu(pid: number): number {
  return cpuTime(pid).own;
}
