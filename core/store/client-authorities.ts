import { X509Certificate } from 'node:crypto';

/** Those whose client certificates count, as they are now. */
export class ClientAuthorities {
  readonly #listeners = new Set<() => void>();
  #pem: string | undefined;

  /** Undefined where no client certificate counts. */
  get pem(): string | undefined {
    return this.#pem;
  }

  /**
   * Replaces them; nothing or blanks for none.
   * @throws Error where it is no PEM of certificates; then the old ones stay.
   */
  set(pem: string | undefined): void {
    const text = pem === undefined || pem.trim() === '' ? undefined : pem;
    if (text === this.#pem) return;
    if (text !== undefined) assertCertificates(text);
    this.#pem = text;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function assertCertificates(pem: string): void {
  const blocks = pem.match(certificate) ?? [];
  if (blocks.length === 0) throw new Error('it holds no certificate in PEM form');
  for (const block of blocks) void new X509Certificate(block);
}
