import { Transport, type TransportOptions } from './transport.ts';

interface WantedTransport {
  /** PEM certificates of CAs to trust in addition to the shared ones. */
  readonly caCertificates?: string | undefined;
  /** Host without certificate check. */
  readonly uncheckedHost?: string | undefined;
}

const maxTransports = 32;

/** One transport for each set of certificates; each keeps its connections open for a while. */
export class Transports {
  readonly #options: TransportOptions;
  readonly #transports = new Map<string, Transport>();

  constructor(options: TransportOptions) {
    this.#options = options;
    // Refuses wrong options when the process starts, not at the first pull.
    this.get({});
  }

  get({ caCertificates = '', uncheckedHost }: WantedTransport): Transport {
    const key = JSON.stringify([caCertificates, uncheckedHost ?? '']);
    const known = this.#transports.get(key);
    if (known !== undefined) return known;
    if (this.#transports.size >= maxTransports) this.#transports.clear();
    const more = caCertificates === '' ? [] : [caCertificates];
    const transport = new Transport({
      ...this.#options,
      uncheckedHost,
      caCertificates: [...this.#options.caCertificates, ...more],
    });
    this.#transports.set(key, transport);
    return transport;
  }
}
