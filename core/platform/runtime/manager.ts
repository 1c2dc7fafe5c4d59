import type { Logger } from '../../contracts/logger.ts';
import { aborted } from '../clock.ts';
import type { Reflector } from '../kube/index.ts';

/** A part of the process that runs until it is stopped. */
export interface Runnable {
  readonly name: string;
  /**
   * Resolves after the signal is aborted and everything is finished; a rejection stops the process.
   * A part of the leader gets `lost` too, aborted when another process may lead: then it sends
   * nothing any more.
   */
  run(signal: AbortSignal, lost?: AbortSignal): Promise<void>;
  /** Resolves when the next stage may start (default: at once). */
  ready?(signal: AbortSignal): Promise<void>;
  /** Of a cache: resolves when it has everything that was written before the call. */
  refresh?(signal: AbortSignal): Promise<void>;
}

interface Started {
  readonly runnable: Runnable;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Starts stages in order and stops them in reverse; one failure stops all. */
export class Manager {
  readonly #logger: Logger;
  readonly #stages: (readonly Runnable[])[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds a stage: its members start together, when all members of the stage before are ready. */
  add(...stage: readonly Runnable[]): void {
    this.#stages.push(stage);
  }

  /**
   * Runs until the signal is aborted, then stops gracefully and resolves; rejects with the first
   * error of a runnable, after stopping the others.
   */
  async run(signal: AbortSignal): Promise<void> {
    const failure = new AbortController();
    const stop = AbortSignal.any([signal, failure.signal]);
    const started: Started[][] = [];
    for (const stage of this.#stages) {
      if (stop.aborted) break;
      started.push(stage.map((runnable) => this.#start(runnable, failure)));
      await this.#untilReady(stage, stop, failure);
    }
    await aborted(stop);
    for (const stage of started.toReversed()) await stopAll(stage);
    if (failure.signal.aborted) throw failure.signal.reason;
  }

  #start(runnable: Runnable, failure: AbortController): Started {
    const stop = new AbortController();
    this.#logger.debug({ runnable: runnable.name }, 'starting');
    const ended = runOne(runnable, stop.signal).catch((error: unknown) => {
      this.#logger.error(
        { runnable: runnable.name, error: String(error) },
        'stopping: a part failed',
      );
      failure.abort(error);
    });
    return { runnable, stop, ended };
  }

  async #untilReady(
    stage: readonly Runnable[],
    stop: AbortSignal,
    failure: AbortController,
  ): Promise<void> {
    const ready = Promise.all(stage.map(async (runnable) => await runnable.ready?.(stop)));
    try {
      await Promise.race([ready, aborted(stop)]);
    } catch (error) {
      if (!stop.aborted) failure.abort(error);
    }
    // The signal tells all waiters about the stop.
    ready.catch(() => undefined);
  }
}

/** Turns an error before the first await into a rejection. */
async function runOne(runnable: Runnable, signal: AbortSignal): Promise<void> {
  await runnable.run(signal);
}

async function stopAll(stage: readonly Started[]): Promise<void> {
  for (const { stop } of stage) stop.abort(new Error('the process stops'));
  await Promise.all(stage.map(async ({ ended }) => await ended));
}

/** A reflector as a part of the process; the next stage starts when its sink is filled. */
export function reflectorRunnable(
  name: string,
  reflector: Pick<Reflector, 'run' | 'whenSynced' | 'refresh'>,
): Runnable {
  return {
    name,
    run: (signal) => reflector.run(signal),
    ready: (signal) => reflector.whenSynced(signal),
    refresh: (signal) => reflector.refresh(signal),
  };
}
