import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Seconds of requests that usually take milliseconds, and at worst a minute. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Metrics of reconciles, with controller-runtime's names. */
export class ReconcileMetrics {
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
      help: 'Maximum number of concurrent reconciles; +Inf without a limit of its own.',
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

/** The state of a queue; times are in seconds. */
export interface QueueSnapshot {
  readonly depth: number;
  /** Waiting time of the first key; 0 when the queue is empty. */
  readonly oldestAge: number;
  /** Working time of each key in progress. */
  readonly running: readonly number[];
}

const labelNames = ['name', 'controller'];
const buckets = [0.001, 0.01, 0.1, 1, 10, 60, 600];

/** Metrics of work queues, with the names of client-go and the labels of controller-runtime. */
export class QueueMetrics {
  readonly #probes = new Map<string, () => QueueSnapshot>();
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #waited: Histogram;
  readonly #worked: Histogram;

  constructor(registry: Registry) {
    const shared = { labelNames, registers: [registry] };
    this.#adds = new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys that were added.',
      ...shared,
    });
    this.#retries = new Counter({
      name: 'workqueue_retries_total',
      help: 'Keys that were tried again after a failure.',
      ...shared,
    });
    this.#waited = new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'Seconds that a key waited in the queue.',
      buckets,
      ...shared,
    });
    this.#worked = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Seconds that a reconcile of a key took.',
      buckets,
      ...shared,
    });
    this.#collect(registry, 'workqueue_depth', {
      help: 'Number of keys in the queue.',
      read: ({ depth }) => depth,
    });
    this.#collect(registry, 'workqueue_unfinished_work_seconds', {
      help: 'Seconds that the reconciles in progress have taken so far, in total.',
      read: ({ running }) => running.reduce((sum, seconds) => sum + seconds, 0),
    });
    this.#collect(registry, 'workqueue_longest_running_processor_seconds', {
      help: 'Seconds that the longest reconcile in progress has taken so far.',
      read: ({ running }) => Math.max(0, ...running),
    });
    this.#collect(registry, 'rukpak_queue_oldest_age_seconds', {
      help: 'Seconds that the oldest key has waited in the queue.',
      read: ({ oldestAge }) => oldestAge,
    });
  }

  /** Reads the queue's state at each scrape. */
  watch(name: string, probe: () => QueueSnapshot): void {
    this.#probes.set(name, probe);
  }

  added(name: string): void {
    this.#adds.inc({ name, controller: name });
  }

  retried(name: string): void {
    this.#retries.inc({ name, controller: name });
  }

  waited(name: string, seconds: number): void {
    this.#waited.observe({ name, controller: name }, seconds);
  }

  worked(name: string, seconds: number): void {
    this.#worked.observe({ name, controller: name }, seconds);
  }

  #collect(
    registry: Registry,
    name: string,
    { help, read }: { help: string; read: (queue: QueueSnapshot) => number },
  ): void {
    const probes = this.#probes;
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        for (const [controller, probe] of probes) {
          this.set({ name: controller, controller }, read(probe()));
        }
      },
    });
    registry.registerMetric(gauge);
  }
}

/** Whether this process leads, with client-go's name. */
export class LeaderMetrics {
  readonly #leads: Gauge;

  constructor(registry: Registry) {
    this.#leads = new Gauge({
      name: 'leader_election_master_status',
      help: '1 if this process holds the lease, 0 if another process holds it.',
      labelNames: ['name'],
      registers: [registry],
    });
  }

  leads(lease: string, leads: boolean): void {
    this.#leads.set({ name: lease }, leads ? 1 : 0);
  }
}
