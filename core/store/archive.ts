import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteStream } from '../content/index.ts';
import type { ContentKey } from '../contracts/store.ts';
import { TerminalError } from '../errors.ts';

/** An open file: what is read stays one archive even when it is replaced meanwhile. */
export interface OpenArchive {
  /** The caller's to close. */
  readonly file: FileHandle;
  readonly stat: BigIntStats;
  /** Undefined for an archive that others wrote. */
  readonly stamp: Stamp | undefined;
}

// Never through a symlink, and never waiting for the other end of a pipe.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** No file, a symlink, a socket. */
const noArchive = new Set(['ENOENT', 'ELOOP', 'ENXIO']);

/** The archive of exactly this Bundle, in a directory; undefined where it is not there. */
export async function openArchive(
  directory: string,
  { name, uid }: ContentKey,
): Promise<OpenArchive | undefined> {
  const archive = await openRegular(archivePath(directory, name));
  if (archive === undefined || archive.stamp?.uid === uid) return archive;
  await archive.file.close();
  return undefined;
}

/** Undefined where no regular file is there. */
async function openRegular(path: string): Promise<OpenArchive | undefined> {
  const file = await openFile(path);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat({ bigint: true });
    if (stat.isFile()) return { file, stat, stamp: await readStamp(file) };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (noArchive.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function readStamp(file: FileHandle): Promise<Stamp | undefined> {
  const head = Buffer.alloc(stampLength);
  const { bytesRead } = await file.read(head, 0, stampLength, 0);
  return stampOf(head.subarray(0, bytesRead));
}

const unknownDigest = '0'.repeat(64);

/** Writes a Bundle's archive with its stamp to a new file, synced to disk. */
export async function writeArchive(path: string, gzip: ByteStream, uid: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    const hash = createHash('sha256').update(uid);
    const archive = stamped(hashed(gzip, hash), { uid, digest: unknownDigest });
    await file.writeFile(archive);
    // The digest is known at the end, and stands at the beginning.
    await file.write(stampBytes({ uid, digest: hash.digest('hex') }), 0, undefined, stampOffset);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function* hashed(stream: ByteStream, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    hash.update(chunk);
    yield chunk;
  }
}

/**
 * Says whose content an archive holds and what its bytes are, kept in the comment field of the gzip
 * header (RFC 1952): one file, so content and identity can never disagree after a crash, and still
 * an archive for every tool.
 */
interface Stamp {
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
const stampOffset = 10;
/** Enough of an archive's beginning to find the stamp in. */
export const stampLength = 512;

/** As it is written; stamps of one UID with a digest are of one length. */
function stampBytes({ uid, digest }: Stamp): Buffer {
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

const suffix = '.tgz';
/** A DNS subdomain, as Bundle names are; it can neither be hidden nor leave a directory. */
const bundleName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** File systems end names at 255 bytes. */
const maxNameLength = 255 - suffix.length;

/** Where a Bundle's archive lies, refusing a name that is none with a TerminalError. */
export function archivePath(directory: string, name: string): string {
  if (!isStorable(name)) {
    throw new TerminalError(
      `content cannot be stored under the bundle name ${JSON.stringify(name.slice(0, 100))}: it must be a DNS subdomain of at most ${maxNameLength} characters`,
    );
  }
  return join(directory, name + suffix);
}

/** The Bundle whose archive has this file name; undefined for other files. */
export function bundleNameOf(fileName: string): string | undefined {
  if (!fileName.endsWith(suffix)) return undefined;
  const name = fileName.slice(0, -suffix.length);
  return isStorable(name) ? name : undefined;
}

function isStorable(name: string): boolean {
  return name.length <= maxNameLength && bundleName.test(name);
}
