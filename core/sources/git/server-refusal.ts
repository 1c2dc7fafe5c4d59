/** A server's text for a message: one line of at most 200 characters. */
export function printable(text: string): string {
  const line = text.replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

const prefix = /^[0-9a-f]{4}ERR /i;
const prefixLength = 8;
/** Far more than a message has. */
const longest = 4096;

/**
 * The bytes of an answer in git's protocol. Throws what `fail` returns for an answer that is the
 * server's reason for a refusal: isomorphic-git reads that as a list without the wanted ref.
 */
export async function* unlessRefused(
  answer: AsyncIterable<Uint8Array>,
  fail: (refusal: Error) => Error,
): AsyncIterableIterator<Uint8Array> {
  let begin: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of answer) {
    if (begin === undefined) {
      yield chunk;
      continue;
    }
    begin = Buffer.concat([begin, chunk]);
    if (begin.byteLength < prefixLength) continue;
    const isRefusal = prefix.test(begin.toString('latin1', 0, prefixLength));
    if (isRefusal && begin.byteLength < longest) continue;
    if (isRefusal) break;
    yield begin;
    begin = undefined;
  }
  if (begin === undefined) return;
  const text = begin.toString('utf8');
  if (!prefix.test(text)) yield begin;
  else throw fail(new Error(`the server says: ${printable(text.slice(prefixLength))}`));
}
