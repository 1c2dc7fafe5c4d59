import { parseJson } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import { type Blob, blobOfValue } from '../../../catalog/blobs/index.ts';
import { TerminalError } from '../../../core/controller.ts';

/** Maximum bytes of one blob, as for the content of a catalog, and of one answer. */
const maxBlobBytes = 64 * 1024 * 1024;
const maxAnswerBytes = 512 * 1024 * 1024;

const newline = 0x0a;

/**
 * The blobs of an answer in JSON lines, one at a time in memory.
 * @throws TerminalError for a line that is no blob, and for an answer beyond the limits
 */
export async function* blobLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Blob> {
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > maxAnswerBytes) throw new TerminalError(tooLarge('answer', maxAnswerBytes));
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = Buffer.concat([...kept, chunk.subarray(start, end)]);
      kept = [];
      keptBytes = 0;
      start = end + 1;
      if (line.length > 0) yield blobOf(line);
    }
    kept.push(chunk.subarray(start));
    keptBytes += chunk.length - start;
    if (keptBytes > maxBlobBytes) throw new TerminalError(tooLarge('blob', maxBlobBytes));
  }
  const last = Buffer.concat(kept);
  if (last.length > 0) yield blobOf(last);
}

function blobOf(line: Buffer): Blob {
  let value: unknown;
  try {
    value = parseJson(line.toString('utf8'));
  } catch (error) {
    throw new TerminalError('its answer is not in JSON lines, or was cut', { cause: error });
  }
  if (!isMap(value)) throw new TerminalError('its answer has a line that is not a blob');
  return blobOfValue(value);
}

function tooLarge(what: string, limit: number): string {
  return `it has sent more than ${limit} bytes in one ${what}`;
}
