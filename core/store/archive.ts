import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteStream } from '../content/index.ts';
import type { PinnedKey } from '../contracts/store.ts';
import { TerminalError } from '../errors.ts';

/** An open file: it stays the same archive even when the file is replaced meanwhile. */
export interface OpenArchive {
  /** The caller must close it. */
  readonly file: FileHandle;
  readonly stat: BigIntStats;
  /** Undefined for an archive that another program wrote. */
  readonly stamp: Stamp | undefined;
}

// Follows no symlink, and does not wait for the other end of a pipe.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Errors of a missing file, a symlink, a socket. */
const noArchive = new Set(['ENOENT', 'ELOOP', 'ENXIO']);

/** The archive of exactly this content in a directory; undefined when it does not exist. */
export async function openArchive(
  directory: string,
  key: PinnedKey,
): Promise<OpenArchive | undefined> {
  const path = storablePath(directory, key.name);
  const archive = path === undefined ? undefined : await openRegular(path);
  if (archive === undefined || isStampOf(archive.stamp, key)) return archive;
  await archive.file.close();
  return undefined;
}

/**
 * The UID of the Bundle whose archive a file is, `foreign` when core did not write it; undefined when
 * it is not a regular file.
 */
export async function writerOf(
  path: string,
): Promise<{ readonly uid: string } | 'foreign' | undefined> {
  const archive = await openRegular(path);
  await archive?.file.close();
  return archive && (archive.stamp ?? 'foreign');
}

/** Undefined when it is not a regular file. */
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

/** Whether its bytes are those that core wrote; false without a digest too. */
export async function isIntact({ file, stamp }: OpenArchive): Promise<boolean> {
  if (stamp?.digest === undefined) return false;
  const head = Buffer.alloc(stampOffset);
  await file.read(head, 0, stampOffset, 0);
  head[flagsOffset] = 0;
  const hash = hashOf(stamp).update(head);
  const start = stampOffset + stampBytes(stamp).length;
  for await (const chunk of file.createReadStream({ start, autoClose: false })) hash.update(chunk);
  return hash.digest('hex') === stamp.digest;
}

const unknownDigest = '0'.repeat(64);

/** Writes a Bundle's archive with its stamp to a new file, synced to disk. */
export async function writeArchive(
  path: string,
  gzip: ByteStream,
  { uid, pin }: PinnedKey,
): Promise<void> {
  const file = await open(path, 'wx');
  try {
    const content = { uid, ...(pin !== undefined && { pin: pinDigest(pin) }) };
    const hash = hashOf(content);
    const archive = stamped(hashed(gzip, hash), { ...content, digest: unknownDigest });
    await file.writeFile(archive);
    // The digest is known at the end, and its place is at the beginning.
    const stamp = stampBytes({ ...content, digest: hash.digest('hex') });
    await file.write(stamp, 0, undefined, stampOffset);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The pin is hashed too: archives of one ETag have the same bytes on every replica. */
function hashOf({ uid, pin = '' }: Stamp): Hash {
  return createHash('sha256').update(uid).update(pin);
}

/** Pins of third parties have any length. */
function pinDigest(pin: string): string {
  return createHash('sha256').update(pin).digest('hex');
}

async function* hashed(stream: ByteStream, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    hash.update(chunk);
    yield chunk;
  }
}

/**
 * Identifies the Bundle and the bytes of an archive, in the comment field of the gzip header (RFC
 * 1952). In the same file, content and identity always match, even after a crash, and every tool
 * can read the archive.
 */
interface Stamp {
  /** UID of the Bundle. */
  readonly uid: string;
  /** SHA-256 of the content's pin, in hex; undefined without one, and in archives of earlier versions. */
  readonly pin?: string;
  /** SHA-256 of UID, pin and gzip stream, in hex; undefined in archives of earlier versions. */
  readonly digest?: string;
}

/** Whether an archive with this stamp is that of the content. */
export function isStampOf(stamp: Stamp | undefined, { uid, pin }: PinnedKey): boolean {
  if (stamp?.uid !== uid) return false;
  return stamp.pin === undefined || pin === undefined || stamp.pin === pinDigest(pin);
}

const uidField = 'core.rukpak.io/uid';
const digestField = 'sha256';
const pinField = 'pin';
const flagsOffset = 3;
const commentFlag = 0x10;
/** Position of the stamp in an archive. */
const stampOffset = 10;
/** Bytes from an archive's beginning that contain the stamp. */
export const stampLength = 512;

/** The stamp as bytes; stamps with the same fields, of the same UID, have the same length. */
function stampBytes({ uid, pin, digest }: Stamp): Buffer {
  const fields = [`${uidField}=${encodeURIComponent(uid)}`];
  if (digest !== undefined) fields.push(`${digestField}=${digest}`);
  if (pin !== undefined) fields.push(`${pinField}=${pin}`);
  return Buffer.from(`${fields.join('&')}\0`, 'latin1');
}

/** The gzip stream with the stamp in its header. */
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

/** The stamp in an archive's beginning; undefined for an archive of another program. */
export function stampOf(beginning: Uint8Array): Stamp | undefined {
  const head = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  if (head[flagsOffset] !== commentFlag) return undefined;
  const end = head.indexOf(0, stampOffset);
  if (end === -1) return undefined;
  const fields = new URLSearchParams(head.toString('latin1', stampOffset, end));
  const uid = fields.get(uidField);
  if (uid === null) return undefined;
  const pin = sha256In(fields.get(pinField));
  const digest = sha256In(fields.get(digestField));
  return { uid, ...(pin !== undefined && { pin }), ...(digest !== undefined && { digest }) };
}

function sha256In(text: string | null): string | undefined {
  return text !== null && /^[0-9a-f]{64}$/.test(text) ? text : undefined;
}

const suffix = '.tgz';
/** A DNS subdomain, the format of Bundle names: neither hidden nor outside of the directory. */
const bundleName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** File systems limit names to 255 bytes. */
const maxNameLength = 255 - suffix.length;

/** The path of a Bundle's archive; undefined for a name under which none can be stored. */
export function storablePath(directory: string, name: string): string | undefined {
  return isStorable(name) ? join(directory, name + suffix) : undefined;
}

/**
 * The path of a Bundle's archive.
 * @throws TerminalError for a name under which none can be stored.
 */
export function archivePath(directory: string, name: string): string {
  const path = storablePath(directory, name);
  if (path !== undefined) return path;
  throw new TerminalError(
    `content cannot be stored under the bundle name ${JSON.stringify(name.slice(0, 100))}: it must be a DNS subdomain of at most ${maxNameLength} characters`,
  );
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
