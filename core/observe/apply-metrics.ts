import { Counter, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './buckets.ts';

export interface AppliedSet {
  /** `reconcile` keeps up what is installed already. */
  readonly operation: 'install' | 'upgrade' | 'reconcile';
  readonly outcome: 'success' | 'error';
  readonly seconds: number;
}

/** How objects of deployments are brought into the cluster. */
export class ApplyMetrics {
  readonly #seconds: Histogram;
  readonly #changes: Counter;
  readonly #requests: Counter;
  readonly #repairs: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#seconds = new Histogram({
      name: 'rukpak_apply_duration_seconds',
      help: 'Time to apply and prune the objects of a deployment.',
      labelNames: ['operation', 'outcome'],
      buckets: requestBuckets,
      registers,
    });
    this.#changes = new Counter({
      name: 'rukpak_apply_changes_total',
      help: 'Objects that were created, changed or deleted.',
      labelNames: ['operation'],
      registers,
    });
    this.#requests = new Counter({
      name: 'rukpak_apply_requests_total',
      help: 'Server-side applies that were sent.',
      registers,
    });
    this.#repairs = new Counter({
      name: 'rukpak_drift_repairs_total',
      help: 'Objects that others had changed or deleted and that were applied again.',
      registers,
    });
  }

  applied({ operation, outcome, seconds }: AppliedSet): void {
    this.#seconds.observe({ operation, outcome }, seconds);
  }

  changed(operation: AppliedSet['operation'], objects: number): void {
    this.#changes.inc({ operation }, objects);
  }

  requested(): void {
    this.#requests.inc();
  }

  repaired(): void {
    this.#repairs.inc();
  }
}
