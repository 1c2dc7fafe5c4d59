import { Counter, Gauge, type Registry } from 'prom-client';

/** What content and worker processes may take together, and what they do. */
export interface MeasuredMemory {
  readonly bytes: number;
  readonly taken: number;
  readonly waiting: number;
  readonly ended: number;
}

/** The memory budget at the time of a scrape. */
export class MemoryMetrics {
  #memory: MeasuredMemory | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const read = (field: keyof MeasuredMemory) => this.#memory?.[field] ?? 0;
    const gauge = (name: string, help: string, field: keyof MeasuredMemory): Gauge =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read(field));
        },
      });
    gauge(
      'rukpak_memory_budget_bytes',
      'Bytes that content and worker processes may take together.',
      'bytes',
    );
    gauge('rukpak_memory_reserved_bytes', 'Bytes of the memory budget that are taken.', 'taken');
    gauge('rukpak_memory_waiting_fetches', 'Fetches that wait for memory.', 'waiting');
    new Counter({
      name: 'rukpak_memory_ended_total',
      help: 'Fetches and worker processes that were ended, to be tried again, for others to have their memory.',
      registers,
      collect() {
        this.reset();
        this.inc(read('ended'));
      },
    });
  }

  watch(memory: MeasuredMemory): void {
    this.#memory = memory;
  }
}
