import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { isRunning, thisProcess, writingProcessSchema } from './writing-process.ts';

export interface LockOptions {
  /** The directory or tar to write, for messages. */
  readonly name: string;
  /** Milliseconds to wait while another process writes it. */
  readonly patience: number;
  readonly clock: Clock;
}

const holderSchema = writingProcessSchema.extend({ id: z.string(), since: z.string() });
type Holder = z.infer<typeof holderSchema>;

/** Milliseconds between two looks. */
const interval = 50;
/** Milliseconds that another process may take to write or remove a lock file. */
const momentary = 2_000;

/**
 * A file that exists while one process writes a directory or tar. The lock of a process that has
 * ended is taken over; where that cannot be known, the writer is refused, and told which file to
 * delete.
 */
export class WriterLock {
  readonly #path: string;
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /** @throws TerminalError if another process writes, or may write */
  static async take(path: string, options: LockOptions): Promise<WriterLock> {
    const { name, patience, clock } = options;
    const since = new Date(clock.now()).toISOString();
    const text = `${JSON.stringify({ ...(await thisProcess()), since, id: randomUUID() })}\n`;
    const begin = clock.monotonic();
    for (;;) {
      if (await isCreated(path, text)) return new WriterLock(path, text);
      const found = await lockedBy(path);
      if (found === undefined) continue;
      const waited = clock.monotonic() - begin;
      if (waited >= (found.isMomentary ? Math.max(momentary, patience) : patience)) {
        throw new TerminalError(`cannot write ${name}: ${found.problem}`);
      }
      await clock.sleep(interval);
    }
  }

  async release(): Promise<void> {
    if ((await textOf(this.#path)) === this.#text) await rm(this.#path, { force: true });
  }
}

interface Locked {
  readonly problem: string;
  /** Whether it lasts only as long as another process writes or removes a file. */
  readonly isMomentary: boolean;
}

/** What keeps others from the lock; undefined if it is free now. */
async function lockedBy(path: string): Promise<Locked | undefined> {
  const text = await textOf(path);
  if (text === undefined) return undefined;
  const holder = holderOf(text);
  if (holder === undefined) {
    const problem = `${path} is no lock file of this program; if nothing writes there, delete it`;
    return { problem, isMomentary: text === '' };
  }
  const { pid, host, since } = holder;
  const runs = await isRunning(holder);
  if (runs === false) return await removeEnded(path, text);
  const problem = runs
    ? `process ${pid} has been writing it since ${since}: wait until it has ended, or name another place`
    : `process ${pid} of host ${host} has been writing it since ${since}; if it has ended, delete ${path}`;
  return { problem, isMomentary: false };
}

/**
 * Removes the lock of a process that has ended. Only one process at a time does so: another one
 * that saw the same lock would remove the next one.
 */
async function removeEnded(path: string, text: string): Promise<Locked | undefined> {
  const guard = `${path}.ended`;
  if (!(await isCreated(guard, ''))) {
    const problem = `another process removes ${path}, whose process has ended; if none does, delete ${guard}`;
    return { problem, isMomentary: true };
  }
  try {
    if ((await textOf(path)) === text) await rm(path, { force: true });
    return undefined;
  } finally {
    await rm(guard, { force: true });
  }
}

function holderOf(text: string): Holder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function isCreated(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
