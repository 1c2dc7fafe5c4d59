import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** A queue as it is at this moment; times are seconds. */
export interface QueueSnapshot {
  readonly depth: number;
  /** For how long the key that came first waits; 0 where none does. */
  readonly oldestAge: number;
  /** For how long each key that is worked on has been. */
  readonly running: readonly number[];
}

const labelNames = ['name', 'controller'];
const buckets = [0.001, 0.01, 0.1, 1, 10, 60, 600];

/** What work queues do, by the names of client-go as controller-runtime labels them. */
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
      help: 'Time that a key waited.',
      buckets,
      ...shared,
    });
    this.#worked = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time that a key was worked on.',
      buckets,
      ...shared,
    });
    this.#collect(registry, 'workqueue_depth', {
      help: 'Keys that wait.',
      read: ({ depth }) => depth,
    });
    this.#collect(registry, 'workqueue_unfinished_work_seconds', {
      help: 'Time so far of all that is worked on, added up.',
      read: ({ running }) => running.reduce((sum, seconds) => sum + seconds, 0),
    });
    this.#collect(registry, 'workqueue_longest_running_processor_seconds', {
      help: 'Time so far of what has been worked on for longest.',
      read: ({ running }) => Math.max(0, ...running),
    });
    this.#collect(registry, 'rukpak_queue_oldest_age_seconds', {
      help: 'Time for which the key that came first waits.',
      read: ({ oldestAge }) => oldestAge,
    });
  }

  /** Looks at the queue with each scrape. */
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
