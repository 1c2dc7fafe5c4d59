import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './controller-metrics.ts';

/** Seconds of network transfers: up to the longest time limit. */
const transferBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

type UnpackOutcome = 'unpacked' | 'waiting' | 'failed';

/** Metrics of fetching, unpacking and storing content. */
export class UnpackMetrics {
  readonly #seconds: Histogram;
  readonly #phases: Histogram;
  readonly #bytes: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#seconds = new Histogram({
      name: 'rukpak_unpack_duration_seconds',
      help: 'Time of an unpacking, from the fetch to the stored archive.',
      labelNames: ['source', 'outcome'],
      buckets: transferBuckets,
      registers,
    });
    this.#phases = new Histogram({
      name: 'rukpak_unpack_phase_duration_seconds',
      help: 'Time of a part of an unpacking: fetch, convert or persist.',
      labelNames: ['source', 'phase'],
      buckets: transferBuckets,
      registers,
    });
    this.#bytes = new Counter({
      name: 'rukpak_unpack_bytes_total',
      help: 'Bytes of the files that were fetched, uncompressed.',
      labelNames: ['source'],
      registers,
    });
  }

  ended(source: string, outcome: UnpackOutcome, seconds: number): void {
    this.#seconds.observe({ source, outcome }, seconds);
  }

  phaseEnded(source: string, phase: string, seconds: number): void {
    this.#phases.observe({ source, phase }, seconds);
  }

  fetched(source: string, bytes: number): void {
    this.#bytes.inc({ source }, bytes);
  }
}

interface ContentRequest {
  readonly method: string;
  /** HTTP status of the response. */
  readonly code: number;
  readonly seconds: number;
}

/** Metrics of the content server. */
export class ContentMetrics {
  readonly #requests: Counter;
  readonly #seconds: Histogram;
  readonly #bytes: Counter;
  readonly #restores: Counter;
  readonly #leftovers: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'rukpak_content_requests_total',
      help: 'Requests to the content server.',
      labelNames: ['method', 'code'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'rukpak_content_request_duration_seconds',
      help: 'Time from a request to the end of its answer.',
      labelNames: ['method'],
      buckets: requestBuckets,
      registers,
    });
    this.#bytes = new Counter({
      name: 'rukpak_content_sent_bytes_total',
      help: 'Bytes of archives that were sent.',
      registers,
    });
    this.#restores = new Counter({
      name: 'rukpak_content_restores_total',
      help: 'Contents that were asked for, not stored here, and unpacked again.',
      labelNames: ['result'],
      registers,
    });
    this.#leftovers = new Counter({
      name: 'rukpak_content_leftovers_total',
      help: 'Times that a file of no Bundle, or a half-written one, could not be removed.',
      registers,
    });
  }

  /** A file in the content or upload directory could not be deleted. */
  leftOver(): void {
    this.#leftovers.inc();
  }

  responded({ method, code, seconds }: ContentRequest): void {
    this.#requests.inc({ method, code: String(code) });
    this.#seconds.observe({ method }, seconds);
  }

  sent(bytes: number): void {
    this.#bytes.inc(bytes);
  }

  restored(result: 'success' | 'error'): void {
    this.#restores.inc({ result });
  }
}

/** The memory of content and worker processes: limit, use, waits and evictions. */
interface MeasuredMemory {
  readonly bytes: number;
  readonly taken: number;
  readonly waiting: number;
  readonly ended: number;
}

const gauges = [
  {
    name: 'rukpak_memory_budget_bytes',
    help: 'Bytes that content and worker processes may take together.',
    field: 'bytes',
  },
  {
    name: 'rukpak_memory_reserved_bytes',
    help: 'Bytes of the memory budget that are taken.',
    field: 'taken',
  },
  {
    name: 'rukpak_memory_waiting_fetches',
    help: 'Fetches that wait for memory.',
    field: 'waiting',
  },
] as const;

/** Reports the memory budget at each scrape. */
export class MemoryMetrics {
  #memory: MeasuredMemory | undefined;

  constructor(registry: Registry) {
    const read = (field: keyof MeasuredMemory) => this.#memory?.[field] ?? 0;
    for (const { field, ...options } of gauges) {
      registry.registerMetric(
        new Gauge({
          ...options,
          registers: [],
          collect() {
            this.set(read(field));
          },
        }),
      );
    }
    registry.registerMetric(
      new Counter({
        name: 'rukpak_memory_ended_total',
        help: 'Fetches and worker processes that core ended to free memory for others.',
        registers: [],
        collect() {
          this.reset();
          this.inc(read('ended'));
        },
      }),
    );
  }

  watch(memory: MeasuredMemory): void {
    this.#memory = memory;
  }
}
