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

/**
 * One transport for each set of certificates; each keeps its connections open for a while. Requests of
 * a transport that it forgets go on.
 */
export class Transports {
  readonly #options: TransportOptions;
  /** The most recently used one is the last. */
  readonly #transports = new Map<string, Transport>();

  constructor(options: TransportOptions) {
    this.#options = options;
    // Refuses wrong options when the process starts, not at the first pull.
    this.get({});
  }

  get({ caCertificates = '', uncheckedHost, isChosen = false }: WantedTransport): Transport {
    const key = JSON.stringify([caCertificates, uncheckedHost ?? '', isChosen]);
    const transport =
      this.#transports.get(key) ?? this.#create({ caCertificates, uncheckedHost, isChosen });
    this.#transports.delete(key);
    this.#transports.set(key, transport);
    const [oldest = ''] = this.#transports.keys();
    if (this.#transports.size > maxTransports) this.#transports.delete(oldest);
    return transport;
  }

  #create({ caCertificates = '', uncheckedHost, isChosen }: WantedTransport): Transport {
    const more = caCertificates === '' ? [] : [caCertificates];
    return new Transport({
      ...this.#options,
      uncheckedHost,
      chosenHost: isChosen === true ? uncheckedHost : undefined,
      caCertificates: [...this.#options.caCertificates, ...more],
    });
  }
}
