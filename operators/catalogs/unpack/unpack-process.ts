import type { ChildProcess } from 'node:child_process';
import { dirname, extname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../../core/controller.ts';
import { type Death, deathOf, deathText, isOutOfMemory, startLimited } from '../limited-process.ts';
import type { UnpackJob, UnpackProblem } from './unpack-catalog.ts';

export interface ProcessLimits {
  /** Maximum megabytes of JavaScript objects. */
  readonly memoryMegabytes: number;
  /** Maximum milliseconds for one catalog. */
  readonly timeout: number;
  readonly clock: Clock;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const entry = join(import.meta.dirname, `unpack-entry${extname(import.meta.filename)}`);

const answerSchema = z.union([
  z.object({ error: z.string() }),
  z.object({
    problem: z.object({ step: z.enum(['image', 'content']), message: z.string() }).optional(),
  }),
]);

/**
 * Unpacks a catalog in a process of its own: strangers' files cannot delay or end the manager, and
 * the process gives its memory back.
 * @throws Error for what the image is not to blame for; the reason of the signal
 */
export async function unpackInProcess(
  job: UnpackJob,
  { memoryMegabytes, timeout, clock }: ProcessLimits,
  signal: AbortSignal,
): Promise<UnpackProblem> {
  signal.throwIfAborted();
  const writable = [dirname(job.files), dirname(job.content)];
  const child = startLimited(entry, { memoryMegabytes, readable: [job.layout], writable });
  const ended = new AbortController();
  const kill = (): void => void child.kill('SIGKILL');
  let isTooLong = false;
  const expire = (): void => {
    isTooLong = true;
    kill();
  };
  clock.sleep(timeout, ended.signal).then(expire, () => undefined);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const end = await endOf(child, job);
    signal.throwIfAborted();
    if (isTooLong) return tooMuch(`takes more than ${timeout / 1000} s to read`);
    if ('answer' in end) return problemOf(end.answer);
    if (isOutOfMemory(end)) return tooMuch(`needs more than ${memoryMegabytes} MiB to be read`);
    throw new Error(`the process that unpacks the catalog ${deathText(end)}`);
  } finally {
    ended.abort();
    signal.removeEventListener('abort', kill);
  }
}

function tooMuch(what: string): UnpackProblem {
  return { step: 'content', message: `the catalog ${what}` };
}

function problemOf(answer: unknown): UnpackProblem {
  const read = answerSchema.parse(answer);
  if ('error' in read) throw new Error(read.error);
  return read.problem;
}

async function endOf(
  child: ChildProcess,
  job: UnpackJob,
): Promise<{ readonly answer: unknown } | Death> {
  let answer: { readonly answer: unknown } | undefined;
  child.on('message', (message) => {
    answer = { answer: message };
  });
  // A process that has ended already reports that by itself.
  child.send(job, () => undefined);
  const death = await deathOf(child);
  return answer ?? death;
}
