import type { Clock } from '../clock.ts';
import type { HttpTransport } from './transport.ts';

/**
 * How far this computer's clock is ahead of the API server's, in milliseconds: negative where it is
 * behind. The truth lies between the two; the server tells whole seconds, and answers take time.
 */
export interface ClockOffset {
  readonly least: number;
  readonly most: number;
}

const timeout = 10_000;

/**
 * Compares the clocks by one small request.
 * @throws Error where the API server cannot be reached, or does not say what time it is.
 */
export async function measureClockOffset(
  transport: Pick<HttpTransport, 'send'>,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<ClockOffset> {
  const sent = clock.now();
  const { headers } = await transport.send({ method: 'GET', path: '/version', signal }, timeout);
  const came = clock.now();
  const told = Date.parse(headers['date']?.toString() ?? '');
  if (Number.isNaN(told)) throw new Error('the API server does not say what time it is');
  return { least: sent - (told + 1_000), most: came - told };
}

/** A clock that is off by more is worth a word, in milliseconds. */
const tolerated = 10_000;

/** That a clock is certainly off, as in `12 s ahead of`; undefined where it need not be. */
export function clockProblem({ least, most }: ClockOffset): string | undefined {
  if (least > tolerated) return `${seconds(least)} s ahead of`;
  return most < -tolerated ? `${seconds(-most)} s behind` : undefined;
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
