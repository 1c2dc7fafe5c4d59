import { Counter, Histogram, type Registry } from 'prom-client';
import { transferBuckets } from './buckets.ts';

export type UnpackOutcome = 'unpacked' | 'waiting' | 'failed';

/** How content comes from its source into the store. */
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
