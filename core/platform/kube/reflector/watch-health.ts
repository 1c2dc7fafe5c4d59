import { apiVersionOf } from '../../../../api/gvk.ts';
import type { Logger } from '../../../contracts/logger.ts';
import { errorMessage } from '../../../errors.ts';
import { Backoff, type Clock } from '../../clock.ts';
import { isExpired } from '../api-error.ts';
import type { Resource } from '../resource.ts';

interface WatchHealthOptions {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Milliseconds: a watch that stays open this long works, even without events. */
const stableAfter = 5_000;

/** Whether a reflector's lists and watches work, its present error, and the pause after it. */
export class WatchHealth {
  readonly #options: WatchHealthOptions;
  readonly #backoff = new Backoff({ initial: 800, max: 30_000 });
  #lastError: Error | undefined;
  /** By the monotonic clock: when the first of the present errors came. */
  #failingSince = 0;
  /** Whether the watch has worked since the last error. */
  #progressed = false;

  constructor(options: WatchHealthOptions) {
    this.#options = options;
  }

  /** The present error of list or watch; undefined while they work. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Milliseconds for which list or watch have failed; 0 while they work. */
  get failingFor(): number {
    if (this.#lastError === undefined) return 0;
    return this.#options.clock.monotonic() - this.#failingSince;
  }

  /** The server has accepted a watch, whose end aborts the signal. */
  opened(signal: AbortSignal): void {
    void this.#options.clock.sleep(stableAfter, signal).then(
      () => this.works(),
      () => undefined,
    );
  }

  works(): void {
    this.#progressed = true;
    this.#backoff.reset();
    if (this.#lastError === undefined) return;
    this.#lastError = undefined;
    this.#options.logger.info(this.#fields(), 'watching again');
  }

  /**
   * True for an expired version. The first one after progress is normal, and the list follows at
   * once.
   */
  forgotten(error: unknown): boolean {
    const normal = isExpired(error) && this.#progressed;
    this.#progressed = false;
    return normal;
  }

  /** Logs an error unless it is the present one; returns the milliseconds to wait after it. */
  failed(error: unknown): number {
    const message = errorMessage(error);
    const known = this.#lastError?.message === message;
    if (this.#lastError === undefined) this.#failingSince = this.#options.clock.monotonic();
    this.#lastError = error instanceof Error ? error : new Error(message);
    if (!known) {
      const fields = { ...this.#fields(), error: message };
      this.#options.logger.warn(fields, 'cannot list or watch');
    }
    return this.#backoff.next();
  }

  #fields(): object {
    const { resource, namespace } = this.#options;
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace };
  }
}
