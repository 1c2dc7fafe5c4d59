import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './buckets.ts';

/** What admission webhooks answer, by controller-runtime's names. */
export class WebhookMetrics {
  readonly #requests: Counter;
  readonly #seconds: Histogram;
  readonly #running: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'controller_runtime_webhook_requests_total',
      help: 'Admission requests by path and the status that was answered.',
      labelNames: ['webhook', 'code'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'controller_runtime_webhook_latency_seconds',
      help: 'Time from an admission request to its answer.',
      labelNames: ['webhook'],
      buckets: requestBuckets,
      registers,
    });
    this.#running = new Gauge({
      name: 'controller_runtime_webhook_requests_in_flight',
      help: 'Admission requests that are being answered.',
      labelNames: ['webhook'],
      registers,
    });
  }

  began(webhook: string): void {
    this.#running.inc({ webhook });
  }

  answered(webhook: string, code: number, seconds: number): void {
    this.#running.dec({ webhook });
    this.#requests.inc({ webhook, code: String(code) });
    this.#seconds.observe({ webhook }, seconds);
  }
}
