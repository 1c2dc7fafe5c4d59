import { createHash } from 'node:crypto';

/** SHA-256 of a stream, as hex. */
export async function digestOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}
