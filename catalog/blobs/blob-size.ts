import { TerminalError } from '../../core/errors.ts';
import type { BlobPlace } from './blob.ts';

/** Real ones have a few hundred kilobytes, icon and all; twelve times as much memory is needed to read one. */
export const maxBlobBytes = 64 * 1024 * 1024;

/** @throws TerminalError for a blob of more than 64 MiB */
export function checkBlobSize({ file, line, start, end }: BlobPlace): void {
  if (end - start <= maxBlobBytes) return;
  throw new TerminalError(
    `${file}:${line}: the blob has ${end - start} bytes, more than the ${maxBlobBytes} that one may have`,
  );
}
