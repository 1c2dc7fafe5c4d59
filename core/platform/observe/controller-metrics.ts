import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './buckets.ts';

/** What reconciles do, by controller-runtime's names. */
export class ControllerMetrics {
  readonly #reconciles: Counter;
  readonly #errors: Counter;
  readonly #seconds: Histogram;
  readonly #active: Gauge;
  readonly #limit: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['controller'];
    this.#reconciles = new Counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciles by controller and result.',
      labelNames: ['controller', 'result'],
      registers,
    });
    this.#errors = new Counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Reconciles that failed.',
      labelNames,
      registers,
    });
    this.#seconds = new Histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Time of a reconcile.',
      labelNames,
      buckets: requestBuckets,
      registers,
    });
    this.#active = new Gauge({
      name: 'controller_runtime_active_workers',
      help: 'Workers that are reconciling.',
      labelNames,
      registers,
    });
    this.#limit = new Gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Reconciles that may run at once; +Inf where something else bounds them.',
      labelNames,
      registers,
    });
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

  maxWorkers(controller: string, count: number): void {
    this.#limit.set({ controller }, count);
  }
}
