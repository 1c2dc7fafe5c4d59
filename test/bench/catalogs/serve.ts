import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { freePorts } from '../../../deploy/local/cluster/ports.ts';
import { opmBinary } from '../../helpers/opm.ts';
import { watchMemory } from '../process-memory.ts';
import { cpuTime } from '../process-tree.ts';
import { type Row, report, rounded } from '../report.ts';
import { copyCatalog } from './copied-catalog.ts';

/** As an installed package runs it. */
const compiled = join(import.meta.dirname, '../../../dist');
/** Connections of the client, each with one request at a time. */
const connections = 8;

/**
 * `opm serve` beside the real one, on a catalog of many bundles: time until it serves, without a cache
 * and with one; and `rukpakctl catalog serve`, asked for the channels and bundles of one package.
 */
export async function benchServe(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      bundles: { type: 'string', default: '2000' },
      runs: { type: 'string', default: '3' },
      /** Seconds of queries in each run. */
      seconds: { type: 'string', default: '5' },
    },
  });
  if (!existsSync(compiled)) throw new Error(`${compiled} is missing: run "npm run build" first`);
  const folder = await mkdtemp(join(tmpdir(), 'bench-serve-'));
  try {
    const catalog = join(folder, 'catalog');
    const made = await copyCatalog(catalog, Number(values.bundles));
    console.error(`${made.bundles} bundles, ${made.packages} packages, ${made.bytes} bytes`);
    const programs = {
      opm: [await opmBinary(), '--pprof-addr', ''],
      ours: [process.execPath, join(compiled, 'bundle/opm.js')],
    };
    const starts: Row[] = [];
    const queries: Row[] = [];
    for (let run = 0; run < Number(values.runs); run += 1) {
      starts.push({
        ...(await startsOf('opm', programs.opm, { folder, catalog })),
        ...(await startsOf('ours', programs.ours, { folder, catalog })),
      });
      queries.push(await queriesOf(catalog, Number(values.seconds)));
    }
    report('serve: starts', starts);
    report('serve: queries', queries);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly folder: string;
  readonly catalog: string;
}

/** One start without a cache, and one with it. */
async function startsOf(
  title: string,
  [program = '', ...words]: readonly string[],
  { folder, catalog }: Place,
): Promise<Row> {
  const [port] = await freePorts(1, []);
  const cache = join(folder, `cache-${title}`);
  await rm(cache, { recursive: true, force: true });
  // The program itself comes first, where it is a script; flags may stand anywhere.
  const args = [...words, 'serve', catalog, '--cache-dir', cache, '-p', String(port)];
  const all = [...args, '-t', join(folder, 'termination-log'), '--cache-enforce-integrity=false'];
  const rows = new Map<string, number>();
  for (const state of ['cold', 'warm']) {
    const startedAt = performance.now();
    await using server = await Serving.start(program, all);
    rows.set(`${title} ${state} s`, rounded((performance.now() - startedAt) / 1000, 2));
    rows.set(`${title} ${state} CPU s`, rounded(server.cpuSeconds(), 2));
    rows.set(`${title} ${state} MiB`, rounded(server.peakMebibytes(), 0));
  }
  return Object.fromEntries(rows);
}

async function queriesOf(catalog: string, seconds: number): Promise<Row> {
  const [port] = await freePorts(1, []);
  const args = ['catalog', 'serve', `bench=${catalog}`, '--address', `127.0.0.1:${port}`];
  await using server = await Serving.start(process.execPath, [
    join(compiled, 'cmd/rukpakctl.js'),
    ...args,
  ]);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const packages = await readdir(catalog);
  const cpuBefore = server.cpuSeconds();
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  let [count, bytes] = [0, 0];
  async function ask(): Promise<void> {
    while (performance.now() < until) {
      const name = packages[count % packages.length] ?? '';
      count += 1;
      const path = `/catalogs/bench/api/v1/metas?package=${name}`;
      const { body } = await pool.request({ path, method: 'GET' });
      bytes += (await body.arrayBuffer()).byteLength;
    }
  }
  await Promise.all(Array.from({ length: connections }, ask));
  const elapsed = (performance.now() - startedAt) / 1000;
  const cpu = server.cpuSeconds() - cpuBefore;
  const memory = server.peakMebibytes();
  await pool.close();
  return {
    'queries/s': rounded(count / elapsed, 0),
    'queries/CPU s': rounded(count / cpu, 0),
    'KiB each': rounded(bytes / count / 1024),
    MiB: rounded(memory, 0),
  };
}

/** A server that has said that it serves. */
class Serving implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #memory: ReturnType<typeof watchMemory>;

  private constructor(process: ChildProcess, memory: ReturnType<typeof watchMemory>) {
    this.#process = process;
    this.#memory = memory;
  }

  static async start(program: string, args: readonly string[]): Promise<Serving> {
    const child = spawn(program, [...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const memory = watchMemory(() => child.pid ?? 0);
    const ready = [child.stdout, child.stderr].map(serving);
    const ended = once(child, 'exit').then(() => undefined);
    const said = await Promise.race([...ready, ended]);
    if (said !== undefined) return new Serving(child, memory);
    throw new Error(`${program} ${args.join(' ')} ended`);
  }

  cpuSeconds(): number {
    return cpuTime(this.#process.pid ?? 0).own / 1000;
  }

  /** The kernel's high-water mark of what is resident. */
  peakMebibytes(): number {
    return this.#memory.stop().process;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}

/** Resolves with the line that says so; never where it does not come. */
async function serving(output: NodeJS.ReadableStream): Promise<string> {
  return await new Promise((resolve) => {
    createInterface(output).on('line', (line) => {
      if (line.includes('serving ')) resolve(line);
    });
  });
}
