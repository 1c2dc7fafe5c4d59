import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ContentKey } from '../contracts/store.ts';
import { archivePath } from './archive-name.ts';
import { type Stamp, stampLength, stampOf } from './archive-stamp.ts';

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
