import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const inflate = promisify(gunzip);

/** A limit far above any page of a list, so that no answer can exhaust memory. */
const maxBodyBytes = 256 * 1024 * 1024;

/** The whole body as text. Decompresses gzip in another thread. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks, length);
  if (encoding !== 'gzip') return bytes.toString('utf8');
  return (await inflate(bytes, { maxOutputLength: maxBodyBytes })).toString('utf8');
}

/** Maximum bytes of one JSON object with its escapes; etcd stores objects of about 1.5 MiB. */
const maxLineBytes = 32 * 1024 * 1024;

/** The non-empty lines of a stream. */
export async function* readLines(
  body: AsyncIterable<Uint8Array>,
  limit: number = maxLineBytes,
): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      pending.push(chunk.subarray(start, end));
      const line = Buffer.concat(pending).toString('utf8');
      pending = [];
      length = 0;
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    length += chunk.length - start;
    if (length > limit) throw new Error(`a watch event is longer than ${limit} bytes`);
    pending.push(chunk.subarray(start));
  }
  // The rest after the last line break is an event that the end of the connection cut off.
}

function tooLarge(): Error {
  return new Error(`the answer is larger than ${maxBodyBytes} bytes`);
}
