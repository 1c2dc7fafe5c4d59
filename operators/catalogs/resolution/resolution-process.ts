import type { ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { type Clock, Semaphore } from '../../../core/controller.ts';
import {
  type Death,
  deathOf,
  deathText,
  isOutOfMemory,
  type ProcessAccess,
  startLimited,
  type TimeLimits,
  timeIsUp,
} from '../limited-process.ts';
import { limitAnswer } from './package-answer.ts';
import type { JobAnswer, ResolutionJob } from './resolution-job.ts';

export interface ResolutionProcessOptions {
  /** Directory with the content of all catalogs: the process reads nothing else. */
  readonly directory: string;
  /** Maximum megabytes of JavaScript objects. */
  readonly memoryMegabytes: number;
  /** Of one resolution, with the start of the process. */
  readonly time: TimeLimits;
  /** Milliseconds after which an idle process ends. */
  readonly idleTime: number;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const entry = join(import.meta.dirname, `resolution-entry${extname(import.meta.filename)}`);

/**
 * Resolves packages in a process of its own, one after the other. The process starts when there is
 * something to resolve, and ends when it is idle, or has reached a limit.
 */
export class ResolutionProcess {
  readonly #options: ResolutionProcessOptions;
  readonly #clock: Clock;
  readonly #turns = new Semaphore(1);
  readonly #closing = new AbortController();
  #worker: Worker | undefined;
  #busy = new AbortController();

  constructor(options: ResolutionProcessOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** @throws Error if the process ends by itself; the reason of the signal */
  async resolve(job: ResolutionJob, signal: AbortSignal): Promise<JobAnswer> {
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    return await this.#turns.run(async () => {
      stop.throwIfAborted();
      this.#busy.abort();
      try {
        return await this.#answer(job, stop);
      } finally {
        this.#busy = new AbortController();
        void this.#endWhenIdle(this.#busy.signal);
      }
    }, stop);
  }

  /** Ends the process; what it resolves, or is to resolve, rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the resolution of packages has been stopped'));
    this.#busy.abort();
    await this.#end();
  }

  async #answer(job: ResolutionJob, stop: AbortSignal): Promise<JobAnswer> {
    const { memoryMegabytes, time } = this.#options;
    const worker = (this.#worker ??= this.#start());
    const ended = new AbortController();
    const kill = (): void => worker.kill();
    let reached: string | undefined;
    const expire = (limit: string): void => {
      reached = limit;
      kill();
    };
    worker.timeIsUp(time, this.#clock, ended.signal).then(expire, () => undefined);
    stop.addEventListener('abort', kill, { once: true });
    try {
      const end = await worker.run(job);
      if ('answer' in end) return end.answer;
      stop.throwIfAborted();
      const what =
        reached === undefined
          ? isOutOfMemory(end) && `needs more than ${memoryMegabytes} MiB`
          : `takes more than ${reached}`;
      if (what === false) throw new Error(`the process that resolves packages ${deathText(end)}`);
      return { ...limitAnswer(job.request, what), isWorthRetry: true };
    } finally {
      ended.abort();
      stop.removeEventListener('abort', kill);
    }
  }

  #start(): Worker {
    const { memoryMegabytes, directory } = this.#options;
    const worker = new Worker({ memoryMegabytes, readable: [directory] });
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    worker.death.then(forget, forget);
    return worker;
  }

  async #endWhenIdle(busy: AbortSignal): Promise<void> {
    try {
      await this.#clock.sleep(this.#options.idleTime, busy);
    } catch {
      return;
    }
    await this.#end();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.kill();
    await worker?.death.catch(() => undefined);
  }
}

type JobEnd = { readonly answer: JobAnswer } | Death;

/** A process that resolves one job at a time. */
class Worker {
  readonly death: Promise<Death>;
  readonly #child: ChildProcess;

  constructor(access: ProcessAccess) {
    this.#child = startLimited(entry, access);
    this.death = deathOf(this.#child);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async timeIsUp(limits: TimeLimits, clock: Clock, signal: AbortSignal): Promise<string> {
    return await timeIsUp(this.#child, limits, { clock, signal });
  }

  /** @throws Error of the program */
  async run(job: ResolutionJob): Promise<JobEnd> {
    const child = this.#child;
    this.#hold(true);
    const answered = Promise.withResolvers<JobEnd>();
    const receive = (message: unknown): void => {
      const { error, answer } = message as { error?: string; answer?: JobAnswer };
      if (error === undefined) answered.resolve({ answer });
      else answered.reject(new Error(error));
    };
    child.once('message', receive);
    try {
      // A process that has ended already reports that by itself.
      child.send(job, () => undefined);
      return await Promise.race([answered.promise, this.death]);
    } finally {
      child.off('message', receive);
      this.#hold(false);
    }
  }

  /** An idle process does not keep this one alive. */
  #hold(isBusy: boolean): void {
    const { channel, stderr } = this.#child;
    // A pipe is a socket, whatever its type says.
    for (const handle of [
      this.#child,
      channel,
      stderr as { ref?(): void; unref?(): void } | null,
    ]) {
      if (isBusy) handle?.ref?.();
      else handle?.unref?.();
    }
  }
}
