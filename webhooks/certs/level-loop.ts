import type { Clock, Logger } from '../cluster.ts';

export interface LevelLoopOptions {
  /** What the loop is for, in log lines. */
  readonly name: string;
  /** Brings things to where they should be; runs again after back-off when it throws. */
  readonly step: (signal: AbortSignal) => Promise<void>;
  /** Runs the step this often without a wake-up too; milliseconds. */
  readonly every: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface LevelLoop {
  /** Asks for a run of the step; several calls before it starts are one. */
  wake(): void;
  /** Runs until the signal is aborted, beginning with the first wake-up. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const firstBackOffMs = 500;
const maxBackOffMs = 60_000;

export function createLevelLoop(options: LevelLoopOptions): LevelLoop {
  const { name, step, every, clock, logger } = options;
  let isAwake = false;
  let interrupt = new AbortController();

  async function rest(ms: number, signal: AbortSignal): Promise<void> {
    interrupt = new AbortController();
    await clock.sleep(ms, AbortSignal.any([signal, interrupt.signal])).catch(() => undefined);
  }

  async function runStep(signal: AbortSignal): Promise<boolean> {
    try {
      isAwake = false;
      await step(signal);
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      const text = error instanceof Error ? error.message : String(error);
      logger.error({ error: text }, `${name} failed; trying again`);
      return false;
    }
  }

  return {
    wake: () => {
      isAwake = true;
      interrupt.abort();
    },
    run: async (signal) => {
      let backOff = firstBackOffMs;
      while (!signal.aborted) {
        if (!isAwake) await rest(every, signal);
        if (signal.aborted) return;
        if (await runStep(signal)) {
          backOff = firstBackOffMs;
          continue;
        }
        await clock.sleep(backOff, signal).catch(() => undefined);
        backOff = Math.min(backOff * 2, maxBackOffMs);
        isAwake = true;
      }
    },
  };
}
