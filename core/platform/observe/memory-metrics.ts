import { Counter, Gauge, type Registry } from 'prom-client';

/** What content and worker processes may take together, and what they do. */
export interface MeasuredMemory {
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

/** The memory budget at the time of a scrape. */
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
        help: 'Fetches and worker processes that were ended for others to have their memory.',
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
