import type { ByteStream } from '../content/index.ts';

/**
 * Says whose content an archive holds and what its bytes are, kept in the comment field of the gzip
 * header (RFC 1952): one file, so content and identity can never disagree after a crash, and still
 * an archive for every tool.
 */
export interface Stamp {
  /** Of the Bundle. */
  readonly uid: string;
  /** SHA-256 of UID and gzip stream, in hex; undefined where an earlier version stored it. */
  readonly digest?: string;
}

const uidField = 'core.rukpak.io/uid';
const digestField = 'sha256';
const flagsOffset = 3;
const commentFlag = 0x10;
/** Where the stamp begins in an archive. */
export const stampOffset = 10;
/** Enough of an archive's beginning to find the stamp in. */
export const stampLength = 512;

/** As it is written; stamps of one UID with a digest are of one length. */
export function stampBytes({ uid, digest }: Stamp): Buffer {
  const fields = [`${uidField}=${encodeURIComponent(uid)}`];
  if (digest !== undefined) fields.push(`${digestField}=${digest}`);
  return Buffer.from(`${fields.join('&')}\0`, 'latin1');
}

/** The gzip stream with the stamp written into its header. */
export async function* stamped(gzip: ByteStream, stamp: Stamp): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let done = false;
  for await (const chunk of gzip) {
    if (done) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < stampOffset) continue;
    head[flagsOffset] = commentFlag;
    yield Buffer.concat([
      head.subarray(0, stampOffset),
      stampBytes(stamp),
      head.subarray(stampOffset),
    ]);
    done = true;
  }
}

/** The stamp in an archive's beginning; undefined for an archive that others wrote. */
export function stampOf(beginning: Uint8Array): Stamp | undefined {
  const head = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  if (head[flagsOffset] !== commentFlag) return undefined;
  const end = head.indexOf(0, stampOffset);
  if (end === -1) return undefined;
  const fields = new URLSearchParams(head.toString('latin1', stampOffset, end));
  const uid = fields.get(uidField);
  const digest = fields.get(digestField) ?? '';
  if (uid === null) return undefined;
  return /^[0-9a-f]{64}$/.test(digest) ? { uid, digest } : { uid };
}
