import { constants, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../clock.ts';

export interface TlsFiles extends CertificateFiles {
  /** CAs of valid client certificates. */
  readonly clientAuthorities?: ClientAuthorities;
}

interface TlsServerOptions {
  readonly app: RequestListener;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Milliseconds. */
const handshakeTimeout = 5_000;

/**
 * A server that uses new files and client CAs without a restart. It asks clients for a certificate,
 * and serves them without one too, because each request is authorized separately.
 */
export async function createTlsServer(
  { clientAuthorities, ...files }: TlsFiles,
  { app, ...options }: TlsServerOptions,
): Promise<Server> {
  let current = await readCertificate(files);
  const context = (): SecureContextOptions => contextOf(current, clientAuthorities);
  const clients = { requestCert: clientAuthorities !== undefined, rejectUnauthorized: false };
  const server = createServer({ ...context(), ...clients, handshakeTimeout }, app);
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
    // Without a list, Node would trust client certificates of public CAs.
    ca: authorities?.pem ?? [],
    // A resumed session would keep its old verification result.
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
  /** The present certificate. */
  readonly current: Certificate;
  readonly onChange: (certificate: Certificate) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const interval = 10_000;

/**
 * Reads both files.
 * @throws Error when they do not belong together.
 */
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
 * Reads the files every ten seconds until the signal is aborted. Reading is more reliable than
 * watching: Secrets are mounted with symlinks that are replaced, and both files must be of one
 * version.
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

/** Node ignores an empty file: the server would start, and refuse every client. */
function assertNotEmpty(cert: string, key: string): void {
  if (cert.trim() === '') throw new Error('the certificate is empty');
  if (key.trim() === '') throw new Error('the key is empty');
}

/** The present CAs of client certificates. */
export class ClientAuthorities {
  readonly #listeners = new Set<() => void>();
  #pem: string | undefined;

  /** Undefined when no client certificate is accepted. */
  get pem(): string | undefined {
    return this.#pem;
  }

  /**
   * Replaces them; undefined or blanks for none.
   * @throws Error when it is not a PEM of certificates; then the old ones stay.
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
