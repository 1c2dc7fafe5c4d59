import { Transport, type TransportOptions } from './transport.ts';

export interface WantedTransport {
  /** PEM certificates of authorities to trust besides those that all trust. */
  readonly caCertificates?: string | undefined;
  /** A host whose certificate is not checked. */
  readonly uncheckedHost?: string | undefined;
}

const maxTransports = 32;

/** One transport for each set of certificates; connections are kept open in it for a while. */
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
