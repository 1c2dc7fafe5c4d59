import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

/** What a connection's TLS handshake needs; a changed identity means new connections. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

/** Tokens and certificates on disk are rotated under us; the library caches what is costly. */
const maxAge = 10_000;

/** The kubeconfig's identity, kept fresh: token files, exec plug-ins, OIDC, client certificates. */
export class CredentialSource {
  readonly #config: KubeConfig;
  #current: Promise<Credentials> | undefined;
  #readAt = 0;

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  /** Concurrent callers share one run of an exec plug-in. A failure is not kept. */
  async current(): Promise<Credentials> {
    const now = performance.now();
    if (this.#current === undefined || now - this.#readAt > maxAge) {
      this.#readAt = now;
      const reading = readCredentials(this.#config);
      this.#current = reading;
      reading.catch(() => this.#forget(reading));
    }
    return await this.#current;
  }

  #forget(reading: Promise<Credentials>): void {
    if (this.#current === reading) this.#current = undefined;
  }
}

async function readCredentials(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = headersOf(options);
  if (options.auth) headers['authorization'] = `Basic ${btoa(options.auth)}`;
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    headers,
    tls: {
      ...(isPem(ca) && { ca }),
      ...(isPem(cert) && { cert }),
      ...(isPem(key) && { key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    },
  };
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // A token file's last line break must not end up in the header.
    if (value !== undefined) headers[name.toLowerCase()] = String(value).trim();
  }
  return headers;
}

function isPem(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value);
}
