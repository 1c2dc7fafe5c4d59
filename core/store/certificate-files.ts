import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';

export interface CertificateFiles {
  /** PEM, the leaf first. */
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface FollowOptions {
  /** What is in use now. */
  readonly current: Certificate;
  readonly onChange: (certificate: Certificate) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const interval = 10_000;

/** Reads both files; throws where they do not belong together. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
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
export async function followCertificate(
  files: CertificateFiles,
  options: FollowOptions,
): Promise<void> {
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
