import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Parser, type ReadEntry } from 'tar';
import { visibleLine } from './visible-text.ts';

/** One entry of an archive. */
export interface ListedEntry {
  readonly path: string;
  /** As `ls` writes it: `drwxr-xr-x`. */
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** Bytes. */
  readonly size: number;
  /** RFC 3339. */
  readonly modified: string;
}

/** The entries of a tar.gz in their order; their content is passed over. */
export async function listArchive(
  archive: Readable,
  signal: AbortSignal,
): Promise<readonly ListedEntry[]> {
  const entries: ListedEntry[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      entries.push(listed(entry));
      entry.resume();
    },
  });
  await pipeline(archive, parser as unknown as NodeJS.WritableStream, { signal });
  return entries;
}

/** A line as `tar ztv` prints it where RukPak ran it. */
export function listingLine({ path, mode, uid, gid, size, modified }: ListedEntry): string {
  const time = modified.slice(0, 19).replace('T', ' ');
  return `${mode} ${uid}/${gid} ${String(size).padStart(9)} ${time} ${visibleLine(path)}`;
}

function listed({ path, type, mode = 0, uid = 0, gid = 0, size, mtime }: ReadEntry): ListedEntry {
  const letter = type === 'Directory' ? 'd' : '-';
  return {
    path: path.replace(/(?<=.)\/+$/, ''),
    mode: letter + permissions(mode),
    uid,
    gid,
    size,
    modified: (mtime ?? new Date(0)).toISOString(),
  };
}

function permissions(mode: number): string {
  return [6, 3, 0]
    .map((shift) => {
      const bits = mode >> shift;
      return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${bits & 1 ? 'x' : '-'}`;
    })
    .join('');
}
