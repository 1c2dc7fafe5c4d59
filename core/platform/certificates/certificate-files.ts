import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../clock.ts';
import type { KeyPair } from './issue.ts';
import { belongTogether } from './pem.ts';

/** How often the files are looked at: a mounted Secret changes without a dependable event. */
const checkEveryMs = 10_000;

/** The key pair in `tls.crt` and `tls.key` of a folder; throws where it is missing or no pair. */
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
      // A file that is being replaced does not belong to the other one yet; the next look does.
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
