import { Counter, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './buckets.ts';

export interface ContentRequest {
  readonly method: string;
  /** The status that was answered. */
  readonly code: number;
  readonly seconds: number;
}

/** What the content server does. */
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

  /** Something in the content or upload directory could not be removed. */
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
