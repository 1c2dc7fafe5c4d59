import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type ClockOffset, clockProblem } from '../platform/kube/index.ts';
import type { ClockMetrics } from '../platform/observe/index.ts';
import type { Runnable } from '../platform/runtime/index.ts';

export interface ClockCheckParts {
  readonly clockOffset: (signal: AbortSignal) => Promise<ClockOffset>;
  readonly metrics: Pick<ClockMetrics, 'measured'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'debug'>;
}

const interval = 60 * 60_000;
const retryInterval = 60_000;

/** Says at the start and every hour where this computer's clock is off; nothing waits for it. */
export function createClockCheck({
  clockOffset,
  metrics,
  clock,
  logger,
}: ClockCheckParts): Runnable {
  let wasOff = false;

  function tell(offset: ClockOffset): void {
    metrics.measured((offset.least + offset.most) / 2);
    const problem = clockProblem(offset);
    if (problem !== undefined) {
      logger.warn(
        {},
        `this computer's clock is ${problem} the API server's: certificates and leases depend on it; synchronize the clocks of the cluster's computers`,
      );
    } else if (wasOff) logger.info({}, "this computer's clock is right again");
    wasOff = problem !== undefined;
  }

  async function check(signal: AbortSignal): Promise<number> {
    try {
      tell(await clockOffset(signal));
      return interval;
    } catch (error) {
      logger.debug({ error: errorMessage(error) }, "cannot compare clocks with the API server's");
      return retryInterval;
    }
  }

  return {
    name: 'clock check',
    async run(signal) {
      while (!signal.aborted) await clock.sleep(await check(signal), signal).catch(() => undefined);
    },
  };
}
