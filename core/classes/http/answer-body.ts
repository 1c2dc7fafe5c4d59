import type { ClassAnswer } from './class-connection.ts';

/** The type of an answer, without its parameters. */
export function mediaTypeOf({ headers }: Pick<ClassAnswer, 'headers'>): string {
  const { 'content-type': type } = headers;
  return (typeof type === 'string' ? type : '').replace(/;.*$/s, '').trim().toLowerCase();
}

/**
 * @throws Error for another type, and for an answer of which nobody could tell whether it has
 * come whole
 */
export function checkBody(answer: ClassAnswer, types: readonly string[]): void {
  const { headers } = answer;
  const type = mediaTypeOf(answer);
  if (!types.includes(type)) {
    const found = type === '' ? 'has no Content-Type' : `is ${JSON.stringify(type.slice(0, 100))}`;
    throw new Error(`the answer ${found}, but must be ${types.join(' or ')}`);
  }
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new Error('the answer has a Content-Encoding, and none is understood');
  }
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    throw new Error(
      'the answer has no Content-Length (and is not chunked): a part of it would pass for the whole',
    );
  }
}

/** @throws Error where the body is longer; errors of the connection pass through */
export async function readBody({ body }: ClassAnswer, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) {
      throw new Error(`the answer is larger than the limit of ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
