import { constants, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';

export interface TlsFiles extends CertificateFiles {
  /** Client certificates count where they were issued by one of these. */
  readonly clientAuthorities?: ClientAuthorities;
}

interface TlsServerOptions {
  readonly app: RequestListener;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * A server that takes up new files and client authorities without a restart. Clients are asked for a
 * certificate and served without one too: who may do what is decided with each request.
 */
export async function createTlsServer(
  { clientAuthorities, ...files }: TlsFiles,
  { app, ...options }: TlsServerOptions,
): Promise<Server> {
  let current = await readCertificate(files);
  const context = (): SecureContextOptions => contextOf(current, clientAuthorities);
  const clients = { requestCert: clientAuthorities !== undefined, rejectUnauthorized: false };
  const server = createServer({ ...context(), ...clients }, app);
  clientAuthorities?.onChange(() => server.setSecureContext(context()));
  void followCertificate(files, {
    ...options,
    current,
    onChange: (certificate) => {
      current = certificate;
      server.setSecureContext(context());
    },
  });
  return server;
}

function contextOf(
  certificate: Certificate,
  authorities?: ClientAuthorities,
): SecureContextOptions {
  return {
    ...certificate,
    minVersion: 'TLSv1.2',
    // Without a list, Node would trust whoever the public authorities certify.
    ca: authorities?.pem ?? [],
    // A session that is taken up again would bring along who it was verified to be.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

interface CertificateFiles {
  /** PEM, the leaf first. */
  readonly certFile: string;
  readonly keyFile: string;
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface FollowOptions {
  /** What is in use now. */
  readonly current: Certificate;
  readonly onChange: (certificate: Certificate) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const interval = 10_000;

/** Reads both files; throws where they do not belong together. */
async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([
    readFile(files.certFile, 'utf8'),
    readFile(files.keyFile, 'utf8'),
  ]);
  try {
    assertNotEmpty(cert, key);
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = errorMessage(error);
    throw new Error(
      `the certificate "${files.certFile}" and the key "${files.keyFile}" cannot be used: ${reason}`,
      { cause: error },
    );
  }
  return { cert, key };
}

/**
 * Looks at the files every ten seconds until the signal is aborted. Looking beats watching here:
 * Secrets are mounted through symlinks that are swapped, and both files must be new at once.
 */
async function followCertificate(files: CertificateFiles, options: FollowOptions): Promise<void> {
  let { current } = options;
  while (!options.signal.aborted) {
    try {
      await options.clock.sleep(interval, options.signal);
      const certificate = await readCertificate(files);
      if (certificate.cert === current.cert && certificate.key === current.key) continue;
      current = certificate;
      options.onChange(certificate);
      options.logger.info({ certFile: files.certFile }, 'certificate reloaded');
    } catch (error) {
      if (options.signal.aborted) return;
      options.logger.warn({ error: errorMessage(error) }, 'certificate not reloaded');
    }
  }
}

/** What is empty is left out by Node: it would serve, and refuse every client. */
function assertNotEmpty(cert: string, key: string): void {
  if (cert.trim() === '') throw new Error('the certificate is empty');
  if (key.trim() === '') throw new Error('the key is empty');
}

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
