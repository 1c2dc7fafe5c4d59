import type { Clock } from '../clock.ts';

/** Why a request is to be sent once more. */
export interface Failure {
  readonly error: Error;
  /** The server works, but has been asked too often. */
  readonly isBusy: boolean;
  /** The header of that name. */
  readonly retryAfter?: string | string[] | undefined;
}

const maxRetries = 2;
/** Enough for a registry that refuses every other request. */
const maxBusyRetries = 6;
const firstDelay = 200;
const maxRetryAfter = 20_000;
/** All together. */
const maxWaiting = 30_000;

/** How often, and after what time, one request is sent again. Times are milliseconds. */
export class RetryPolicy {
  readonly #clock: Clock;
  #retries = 0;
  #waited = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when it is time for the next try.
   * @throws the failure's error where there is none, as the server wants or has wanted too long
   */
  async wait({ error, isBusy, retryAfter }: Failure, signal: AbortSignal): Promise<void> {
    const asked = this.#millisecondsOf(retryAfter);
    const delay = Math.max(asked, firstDelay * 2 ** this.#retries);
    this.#retries += 1;
    this.#waited += delay;
    const isLast = this.#retries > (isBusy ? maxBusyRetries : maxRetries);
    if (isLast || asked > maxRetryAfter || this.#waited > maxWaiting) throw error;
    await this.#clock.sleep(delay, signal);
  }

  /** Of a Retry-After header, in seconds or as a date; 0 where it says nothing. */
  #millisecondsOf(value: Failure['retryAfter']): number {
    if (typeof value !== 'string') return 0;
    if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
    const date = Date.parse(value);
    return Number.isNaN(date) ? 0 : Math.max(0, date - this.#clock.now());
  }
}
