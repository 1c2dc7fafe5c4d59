import { TerminalError } from '../../errors.ts';
import type { BlobToPush } from '../configuration/place.ts';
import { digestAlgorithm, digestHash } from '../reference.ts';

/**
 * A blob's bytes, counted and hashed while they stream.
 * @throws TerminalError at the end or earlier, if they do not match the descriptor
 */
export async function* checkedBytes(
  { descriptor, open }: Pick<BlobToPush, 'descriptor' | 'open'>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { digest, size } = descriptor;
  const hash = digestHash(digest);
  let length = 0;
  for await (const chunk of open()) {
    signal.throwIfAborted();
    length += chunk.byteLength;
    if (length > size) throw new TerminalError(`blob ${digest} has more bytes than ${size}`);
    hash.update(chunk);
    yield chunk;
  }
  if (length < size) {
    throw new TerminalError(`blob ${digest} has ${length} bytes instead of ${size}`);
  }
  const actual = `${digestAlgorithm(digest)}:${hash.digest('hex')}`;
  if (actual !== digest) throw new TerminalError(`blob ${digest} has the digest ${actual}`);
}
