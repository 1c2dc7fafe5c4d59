import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './controller-metrics.ts';

export interface AppliedSet {
  /** `reconcile` keeps installed objects in place. */
  readonly operation: 'install' | 'upgrade' | 'reconcile';
  readonly outcome: 'success' | 'error';
  readonly seconds: number;
}

/** Workloads take from seconds to an hour. */
const healthBuckets = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Metrics of applying the objects of deployments. */
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
      help: 'Repairs of objects that others had changed or deleted.',
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

  /** Whole seconds, as in the status. */
  becameHealthy(seconds: number): void {
    this.#timeToHealthy.observe(seconds);
  }
}

/** Number of objects with these label values. */
export interface ObjectCount {
  readonly labels: Readonly<Record<string, string>>;
  readonly count: number;
}

/** Counts of the cached objects at a scrape. */
export interface ObjectCounts {
  bundles(): readonly ObjectCount[];
  conditions(): readonly ObjectCount[];
  unserved(): readonly ObjectCount[];
}

interface CountGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly counts: keyof ObjectCounts;
}

const gauges: readonly CountGauge[] = [
  { name: 'rukpak_bundles', help: 'Bundles by phase.', labelNames: ['phase'], counts: 'bundles' },
  {
    name: 'rukpak_bundle_deployment_conditions',
    help: 'BundleDeployments by condition, its status and its reason.',
    labelNames: ['type', 'status', 'reason'],
    counts: 'conditions',
  },
  {
    name: 'rukpak_unserved_objects',
    help: 'Number of objects that no manager reconciles, by kind and class.',
    labelNames: ['kind', 'class'],
    counts: 'unserved',
  },
];

/** Counts objects by their state. */
export class ObjectMetrics {
  #counts: ObjectCounts | undefined;

  constructor(registry: Registry) {
    for (const gauge of gauges) registry.registerMetric(this.#gauge(gauge));
  }

  /** Reads the counts at each scrape. */
  watch(counts: ObjectCounts): void {
    this.#counts = counts;
  }

  #gauge({ counts, ...options }: CountGauge): Gauge {
    const read = () => this.#counts?.[counts]() ?? [];
    return new Gauge({
      ...options,
      registers: [],
      collect() {
        // A state without objects must have no sample.
        this.reset();
        for (const { labels, count } of read()) this.set(labels, count);
      },
    });
  }
}
