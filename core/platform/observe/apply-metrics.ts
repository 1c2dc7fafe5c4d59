import { Counter, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './buckets.ts';

export interface AppliedSet {
  /** `reconcile` keeps up what is installed already. */
  readonly operation: 'install' | 'upgrade' | 'reconcile';
  readonly outcome: 'success' | 'error';
  readonly seconds: number;
}

/** Workloads take from seconds to an hour. */
const healthBuckets = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

/** How objects of deployments are brought into the cluster. */
export class ApplyMetrics {
  readonly #seconds: Histogram;
  readonly #changes: Counter;
  readonly #requests: Counter;
  readonly #repairs: Counter;
  readonly #timeToHealthy: Histogram;

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
    this.#timeToHealthy = new Histogram({
      name: 'rukpak_time_to_healthy_seconds',
      help: 'Time from the first apply of a Bundle until it was healthy, of deployments that keep their progress.',
      buckets: healthBuckets,
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

  /** Whole seconds, as the status has them. */
  becameHealthy(seconds: number): void {
    this.#timeToHealthy.observe(seconds);
  }
}
