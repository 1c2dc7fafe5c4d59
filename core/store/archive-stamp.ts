import type { ByteStream } from '../content/byte-reader.ts';

/**
 * The UID of the Bundle whose content an archive holds, kept in the comment field of the gzip
 * header (RFC 1952): one file, so content and identity can never disagree after a crash, and
 * still an archive for every tool.
 */
const prefix = 'core.rukpak.io/uid=';
const headerLength = 10;
const flagsOffset = 3;
const commentFlag = 0x10;
/** Enough of an archive's beginning to find the stamp in. */
export const stampLength = 512;

/** The gzip stream with the stamp written into its header. */
export async function* stamped(gzip: ByteStream, uid: string): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let done = false;
  for await (const chunk of gzip) {
    if (done) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < headerLength) continue;
    head[flagsOffset] = commentFlag;
    const comment = Buffer.from(`${prefix}${encodeURIComponent(uid)}\0`, 'latin1');
    yield Buffer.concat([head.subarray(0, headerLength), comment, head.subarray(headerLength)]);
    done = true;
  }
}

/** The UID in an archive's beginning; undefined for an archive that others wrote. */
export function stampOf(beginning: Uint8Array): string | undefined {
  const head = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  if (head[flagsOffset] !== commentFlag) return undefined;
  const end = head.indexOf(0, headerLength);
  const comment = head.toString('latin1', headerLength, end === -1 ? headerLength : end);
  if (!comment.startsWith(prefix)) return undefined;
  try {
    return decodeURIComponent(comment.slice(prefix.length));
  } catch {
    return undefined;
  }
}
