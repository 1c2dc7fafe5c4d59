import { TerminalError } from '../../core/errors.ts';
import type { BlobPlace } from './blob.ts';

/** Real blobs have a few hundred KB with icon; reading one takes twelve times as much memory. */
export const maxBlobBytes = 64 * 1024 * 1024;

/** @throws TerminalError for a blob of more than 64 MiB */
export function checkBlobSize({ file, line, start, end }: BlobPlace): void {
  if (end - start <= maxBlobBytes) return;
  throw new TerminalError(
    `${file}:${line}: the blob has ${end - start} bytes, more than the ${maxBlobBytes} that one may have`,
  );
}
