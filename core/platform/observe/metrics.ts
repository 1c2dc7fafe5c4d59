import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { ContentMetrics, MemoryMetrics, UnpackMetrics } from './content-metrics.ts';
import { LeaderMetrics, QueueMetrics, ReconcileMetrics } from './controller-metrics.ts';
import { ApplyMetrics, ObjectMetrics } from './deployment-metrics.ts';
import { CertificateMetrics } from './serving-metrics.ts';

/** A process's metrics, with Node's own, for `/metrics`. */
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

/**
 * Metrics of every process with controllers, with the names of controller-runtime and client-go.
 */
export class ControllerMetrics extends Exposition {
  readonly controllers = new ReconcileMetrics(this.registry);
  readonly queues = new QueueMetrics(this.registry);
  readonly leader = new LeaderMetrics(this.registry);
}

/** The metrics of core, by area. */
export class Metrics extends ControllerMetrics {
  readonly unpacking = new UnpackMetrics(this.registry);
  readonly memory = new MemoryMetrics(this.registry);
  readonly applying = new ApplyMetrics(this.registry);
  readonly content = new ContentMetrics(this.registry);
  readonly objects = new ObjectMetrics(this.registry);
  readonly clock = new ClockMetrics(this.registry);
  readonly certificates = new CertificateMetrics(this.registry);
}

/** The offset of this process's clock. */
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
