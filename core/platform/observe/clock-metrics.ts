import { Gauge, type Registry } from 'prom-client';

/** How right this process's clock is. */
export class ClockMetrics {
  readonly #offset: Gauge;

  constructor(registry: Registry) {
    this.#offset = new Gauge({
      name: 'rukpak_clock_offset_seconds',
      help: "How far this process's clock is ahead of the API server's, compared every hour.",
      registers: [registry],
    });
  }

  /** In milliseconds. */
  measured(offset: number): void {
    this.#offset.set(offset / 1_000);
  }
}
