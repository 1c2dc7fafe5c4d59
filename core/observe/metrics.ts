import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ContentMetrics } from './content-metrics.ts';

/** controller-runtime's metrics by their names, so that its dashboards and alerts work. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #reconciles = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by controller and result.',
    labelNames: ['controller', 'result'],
    registers: [this.#registry],
  });
  readonly #errors = new Counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed.',
    labelNames: ['controller'],
    registers: [this.#registry],
  });
  readonly #seconds = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Time of a reconcile.',
    labelNames: ['controller'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.#registry],
  });
  readonly #active = new Gauge({
    name: 'controller_runtime_active_workers',
    help: 'Workers that are reconciling.',
    labelNames: ['controller'],
    registers: [this.#registry],
  });
  readonly #depth = new Gauge({
    name: 'workqueue_depth',
    help: 'Keys that wait.',
    labelNames: ['name', 'controller'],
    registers: [this.#registry],
  });
  readonly #waited = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'Time that a key waited.',
    labelNames: ['name', 'controller'],
    buckets: [0.001, 0.01, 0.1, 1, 10, 60, 600],
    registers: [this.#registry],
  });
  readonly #retries = new Counter({
    name: 'workqueue_retries_total',
    help: 'Keys that were tried again after a failure.',
    labelNames: ['name', 'controller'],
    registers: [this.#registry],
  });

  /** What the content server does. */
  readonly content = new ContentMetrics(this.#registry);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  reconcileTotal(controller: string, result: string): void {
    this.#reconciles.inc({ controller, result });
    if (result === 'error') this.#errors.inc({ controller });
  }

  reconcileTime(controller: string, seconds: number): void {
    this.#seconds.observe({ controller }, seconds);
  }

  activeWorkers(controller: string, count: number): void {
    this.#active.set({ controller }, count);
  }

  queueDepth(controller: string, depth: number): void {
    this.#depth.set({ name: controller, controller }, depth);
  }

  queueDuration(controller: string, seconds: number): void {
    this.#waited.observe({ name: controller, controller }, seconds);
  }

  retriesTotal(controller: string): void {
    this.#retries.inc({ name: controller, controller });
  }

  /** In Prometheus' text format. */
  async render(): Promise<{ readonly contentType: string; readonly body: string }> {
    return { contentType: this.#registry.contentType, body: await this.#registry.metrics() };
  }
}
