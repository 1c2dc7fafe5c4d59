import { X509Certificate } from 'node:crypto';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { requestBuckets } from './controller-metrics.ts';

/** Metrics of admission webhooks, with controller-runtime's names. */
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

/** Metrics of the content server of catalogs, with catalogd's name. */
export class CatalogServerMetrics {
  readonly #seconds: Histogram;

  constructor(registry: Registry) {
    this.#seconds = new Histogram({
      name: 'catalogd_http_request_duration_seconds',
      help: 'Time from a request for a catalog to the end of its answer.',
      labelNames: ['code'],
      buckets: catalogBuckets,
      registers: [registry],
    });
  }

  answered(code: number, seconds: number): void {
    this.#seconds.observe({ code: String(code) }, seconds);
  }
}

/** Seconds, as in catalogd. */
const catalogBuckets = [
  0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6, 4, 10,
];

/** A PEM chain, the leaf first; undefined when there is none. */
type CertificateReader = () => Promise<string | undefined> | string | undefined;

/** Expiry of the certificates that this process serves or issues. */
export class CertificateMetrics {
  readonly #readers = new Map<string, CertificateReader>();
  readonly #lists: (() => readonly (readonly [string, string])[])[] = [];

  constructor(registry: Registry) {
    const [readers, lists] = [this.#readers, this.#lists];
    const gauge = new Gauge({
      name: 'rukpak_certificate_expiry_seconds',
      help: 'When the certificate expires, in seconds since the epoch.',
      labelNames: ['certificate'],
      registers: [],
      async collect() {
        // The certificates of a list may disappear.
        this.reset();
        const listed = lists.flatMap((list) => list());
        const all = [...readers, ...listed.map(([name, pem]) => [name, () => pem] as const)];
        for (const [certificate, read] of all) {
          const expiry = await expiryOf(read);
          if (expiry !== undefined) this.set({ certificate }, expiry);
        }
      },
    });
    registry.registerMetric(gauge);
  }

  /** Reads the certificate at each scrape. */
  watch(certificate: string, read: CertificateReader): void {
    this.#readers.set(certificate, read);
  }

  /** Reads the names and PEM texts of a changing list of certificates at each scrape. */
  watchAll(list: () => readonly (readonly [string, string])[]): void {
    this.#lists.push(list);
  }
}

/** An unreadable certificate has no expiry, and must not hide all other metrics. */
async function expiryOf(read: CertificateReader): Promise<number | undefined> {
  try {
    const pem = await read();
    return pem === undefined ? undefined : Date.parse(new X509Certificate(pem).validTo) / 1000;
  } catch {
    return undefined;
  }
}
