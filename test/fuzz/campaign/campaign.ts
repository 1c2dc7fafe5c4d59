import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { signatureOf } from '../judge.ts';
import { minimised } from '../minimise.ts';
import type { Finding } from '../session.ts';
import { type Flight, readFlight } from './flight.ts';
import type { FromChild, Order } from './messages.ts';

export interface CampaignOptions {
  /** The module that exports `targets`, as a URL. */
  readonly module: string;
  readonly target: string;
  /** Milliseconds. */
  readonly time: number;
  readonly seed: number;
  readonly onFinding: (finding: Finding) => Promise<void>;
  /** Maximum findings of a target (default: 20). */
  readonly maxFindings?: number;
  /** Seconds of processor time after which an input counts as endless (default: 20). */
  readonly endless?: number;
}

/** MiB of V8's heap. */
const heap = 512;
const polling = 500;
const defaultEndless = 20;
/** Maximum attempts to shrink an input that ends its process; each needs a new process. */
const triesToMinimise = 40;
/** Maximum deaths of a target's processes; the campaign then stops that target. */
const maxDeaths = 5;

/** Attacks one target in processes of its own. Gives back how many inputs it has read. */
export async function attack(options: CampaignOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-fuzz-'));
  const sweep = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', sweep);
  const known = new Set<string>();
  const { maxFindings = 20 } = options;
  let inputs = 0;
  try {
    const end = performance.now() + options.time;
    for (let deaths = 0; deaths < maxDeaths && performance.now() < end; deaths += 1) {
      if (known.size >= maxFindings) break;
      const flight = join(folder, `${deaths}`);
      const rest = { time: end - performance.now(), maxFindings: maxFindings - known.size };
      const life = await live({ ...options, ...rest, known, flight }, deaths);
      inputs += life.inputs;
      if (life.died === undefined) break;
      const finding = await confirmed(options, life.died);
      if (finding === undefined || known.has(signatureOf(finding.problem))) continue;
      known.add(signatureOf(finding.problem));
      await options.onFinding(finding);
    }
    return inputs;
  } finally {
    process.off('exit', sweep);
    sweep();
  }
}

interface Life {
  readonly inputs: number;
  /** The input that ended the process. */
  readonly died?: Uint8Array;
}

interface LifeOptions extends CampaignOptions {
  readonly maxFindings: number;
  readonly known: Set<string>;
  readonly flight: string;
}

/** One process, to its end. */
async function live(options: LifeOptions, index: number): Promise<Life> {
  const { known, flight, onFinding, module, target, time, maxFindings } = options;
  const child = start({
    type: 'fuzz',
    module,
    target,
    time,
    seed: options.seed + index * 100_000,
    known: [...known],
    maxFindings,
    flight,
  });
  let inputs: number | undefined;
  let reports = Promise.resolve();
  child.on('message', (message: FromChild) => {
    if (message.type === 'done') inputs = message.inputs;
    if (message.type !== 'finding') return;
    known.add(signatureOf(message.problem));
    const finding = { problem: message.problem, input: Buffer.from(message.input, 'base64') };
    reports = reports.then(() => onFinding(finding));
  });
  const output = outputOf(child);
  await endOf(child, { flight: () => flightOf(flight), endless: options.endless });
  await reports;
  if (inputs !== undefined) return { inputs };
  const last = flightOf(flight);
  if (last === undefined) throw new Error(`target ${target} cannot be run: ${await output}`);
  return { inputs: last.count, died: last.input };
}

function flightOf(path: string): Flight | undefined {
  try {
    return readFlight(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** An input that ended a process is a finding only if it ends a new process alone too. */
async function confirmed(
  { module, target, endless }: CampaignOptions,
  input: Uint8Array,
): Promise<Finding | undefined> {
  const judge = (candidate: Uint8Array): Promise<string | undefined> =>
    judgeAlone({ module, target, endless }, candidate);
  const problem = await judge(input);
  if (problem === undefined) return undefined;
  // Shrinking an endless input would take the full time limit at each try.
  if (problem === endlessProblem(endless)) return { problem, input };
  const fails = async (candidate: Uint8Array): Promise<boolean> => {
    const found = await judge(candidate);
    return found !== undefined && signatureOf(found) === signatureOf(problem);
  };
  return { problem, input: await minimised(input, fails, triesToMinimise) };
}

function endlessProblem(seconds = defaultEndless): string {
  return `takes more than ${seconds} s of processor time`;
}

type Place = Pick<CampaignOptions, 'module' | 'target'> & { readonly endless: number | undefined };

/** Problem of a new process with this input; undefined without one. */
async function judgeAlone(
  { module, target, endless }: Place,
  input: Uint8Array,
): Promise<string | undefined> {
  const child = start({
    type: 'judge',
    module,
    target,
    input: Buffer.from(input).toString('base64'),
  });
  let verdict: { readonly problem: string | undefined } | undefined;
  child.on('message', (message: FromChild) => {
    if (message.type === 'judged') verdict = { problem: message.problem };
  });
  const end = await endOf(child, { flight: () => ({ count: 1, input }), endless });
  return verdict === undefined ? end : verdict.problem;
}

function start(order: Order): ChildProcess {
  const child = fork(join(import.meta.dirname, 'child.ts'), {
    execArgv: [`--max-old-space-size=${heap}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.send(order);
  // If this process is interrupted, a child with an endless input would outlive it.
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}

async function outputOf({ stderr }: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of stderr ?? []) text = (text + String(chunk)).slice(-2_000);
  return text;
}

interface Watched {
  readonly flight: () => Flight | undefined;
  readonly endless: number | undefined;
}

/** Waits for the end of a process, or ends it where one input takes all its time. Says how it ended. */
async function endOf(
  child: ChildProcess,
  { flight, endless = defaultEndless }: Watched,
): Promise<string> {
  const over = new AbortController();
  const exit = once(child, 'exit').finally(() => over.abort());
  const isEndless = await takesAllTime(child, { flight, endless }, over.signal);
  if (isEndless) child.kill('SIGKILL');
  const [code, signal] = (await exit) as [number | null, string | null];
  if (isEndless) return endlessProblem(endless);
  return `ends the process (${signal ?? `exit code ${code}`})`;
}

/** Resolves when one input has taken too much processor time, or to false when the process has ended. */
async function takesAllTime(
  { pid }: ChildProcess,
  { flight, endless = defaultEndless }: Watched,
  over: AbortSignal,
): Promise<boolean> {
  let since = { count: 0, seconds: 0 };
  while (!over.aborted) {
    await delay(polling, undefined, { signal: over }).catch(() => undefined);
    const count = flight()?.count ?? 0;
    const seconds = (await processorSeconds(pid)) ?? 0;
    if (count !== since.count) since = { count, seconds };
    if (count > 0 && seconds - since.seconds > endless) return true;
  }
  return false;
}

const ticksPerSecond = 100;

/** Of a process with all its threads; undefined where it has ended. */
async function processorSeconds(pid = 0): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
