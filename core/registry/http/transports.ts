import { Transport, type TransportOptions } from './transport.ts';

interface WantedTransport {
  /** PEM certificates of CAs to trust in addition to the shared ones. */
  readonly caCertificates?: string | undefined;
  /** Host without certificate check. */
  readonly uncheckedHost?: string | undefined;
  /** Whether an admin has chosen that host, at any address. */
  readonly isChosen?: boolean | undefined;
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

  get({ caCertificates = '', uncheckedHost, isChosen = false }: WantedTransport): Transport {
    const key = JSON.stringify([caCertificates, uncheckedHost ?? '', isChosen]);
    const known = this.#transports.get(key);
    if (known !== undefined) return known;
    if (this.#transports.size >= maxTransports) this.#transports.clear();
    const more = caCertificates === '' ? [] : [caCertificates];
    const transport = new Transport({
      ...this.#options,
      uncheckedHost,
      chosenHost: isChosen ? uncheckedHost : undefined,
      caCertificates: [...this.#options.caCertificates, ...more],
    });
    this.#transports.set(key, transport);
    return transport;
  }
}
