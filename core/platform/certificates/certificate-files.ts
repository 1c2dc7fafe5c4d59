import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../clock.ts';
import type { KeyPair } from './issue.ts';
import { belongTogether } from './pem.ts';

/** Interval of reading the files: a mounted Secret changes without a reliable event. */
const checkEveryMs = 10_000;

/**
 * The key pair in `tls.crt` and `tls.key` of a folder.
 * @throws Error when a file is missing, or when the two do not belong together.
 */
export async function readCertificateFiles(folder: string): Promise<KeyPair> {
  const pair = await readPair(folder).catch((error: unknown) => {
    const text = errorMessage(error);
    throw new Error(`no serving certificate in ${folder} (--cert-dir): ${text}`, { cause: error });
  });
  if (belongTogether(pair)) return pair;
  throw new Error(
    `tls.crt and tls.key in ${folder} (--cert-dir) are not a certificate and its key`,
  );
}

interface CertificateFilesOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Calls `onChange` with each new key pair in the folder, until the signal is aborted. */
export async function followCertificateFiles(
  { folder, clock, logger }: CertificateFilesOptions,
  onChange: (pair: KeyPair) => void,
  signal: AbortSignal,
): Promise<void> {
  let last: KeyPair | undefined;
  while (!signal.aborted) {
    try {
      // While the files are being replaced they may not belong together; the next read sees both.
      const pair = await readCertificateFiles(folder);
      if (pair.certificate !== last?.certificate || pair.privateKey !== last.privateKey) {
        last = pair;
        onChange(pair);
      }
    } catch (error) {
      logger.warn(
        { error: String(error) },
        'serving certificate cannot be read; the old one stays',
      );
    }
    await clock.sleep(checkEveryMs, signal).catch(() => undefined);
  }
}

async function readPair(folder: string): Promise<KeyPair> {
  const [certificate, privateKey] = await Promise.all([
    readFile(join(folder, 'tls.crt'), 'utf8'),
    readFile(join(folder, 'tls.key'), 'utf8'),
  ]);
  return { certificate, privateKey };
}
