import type { Clock } from '../../core/platform/clock.ts';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that moves only when the test advances it. */
export class ManualClock implements Clock {
  /** Milliseconds by which the test has advanced the clock; sleepers use it too. */
  #passed = 0;
  #start: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start = Date.parse('2026-01-01T00:00:00Z')) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#passed;
  }

  monotonic(): number {
    return this.#passed;
  }

  /** Sets the wall clock as an admin would: wakes no sleeper. */
  set(now: number): void {
    this.#start = now - this.#passed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const sleeper = {
        until: this.#passed + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  /** Wakes every sleeper whose time has come. */
  advance(ms: number): void {
    this.#passed += ms;
    for (const { until, wake } of this.#sleepers) if (until <= this.#passed) wake();
  }
}
