import { X509Certificate } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';

/** A PEM chain, the leaf first; undefined while there is none. */
export type CertificateReader = () => Promise<string | undefined> | string | undefined;

/** Until when the certificates are valid that this process serves or issues. */
export class CertificateMetrics {
  readonly #readers = new Map<string, CertificateReader>();

  constructor(registry: Registry) {
    const readers = this.#readers;
    const gauge = new Gauge({
      name: 'rukpak_certificate_expiry_seconds',
      help: 'When the certificate expires, in seconds since the epoch.',
      labelNames: ['certificate'],
      registers: [],
      async collect() {
        for (const [certificate, read] of readers) {
          const expiry = await expiryOf(read);
          if (expiry === undefined) this.remove({ certificate });
          else this.set({ certificate }, expiry);
        }
      },
    });
    registry.registerMetric(gauge);
  }

  /** Reads the certificate with each scrape. */
  watch(certificate: string, read: CertificateReader): void {
    this.#readers.set(certificate, read);
  }
}

/** What cannot be read has no expiry, and must not hide all other metrics. */
async function expiryOf(read: CertificateReader): Promise<number | undefined> {
  try {
    const pem = await read();
    return pem === undefined ? undefined : Date.parse(new X509Certificate(pem).validTo) / 1000;
  } catch {
    return undefined;
  }
}
