import { collectDefaultMetrics, Registry } from 'prom-client';

/** A process's metrics, with what Node tells of itself, as `/metrics` answers them. */
export class Exposition {
  readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** In Prometheus' text format. */
  async render(): Promise<{ readonly contentType: string; readonly body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }
}
