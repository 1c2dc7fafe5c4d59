import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** As `temporaryPath` makes them: hidden files of others are not touched. */
const temporaryName = /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** A unique name for a file that is renamed when it is complete. */
export function temporaryPath(directory: string): string {
  return join(directory, `.${randomUUID()}.tmp`);
}

/** A sentence about files that core has not deleted, or not overwritten, because it may not. */
export class FileKept extends Error {
  override readonly name = 'FileKept';
}

/**
 * Moves a file that core may not delete out of the way, into the folder `aside` beside it.
 * @returns its new path
 */
export async function setAside(path: string): Promise<string> {
  const folder = join(dirname(path), 'aside');
  await mkdir(folder, { recursive: true });
  const same = join(folder, basename(path));
  const aside = existsSync(same) ? join(folder, randomUUID()) : same;
  await rename(path, aside);
  return aside;
}

/**
 * Receives the error of a file that could not be deleted, or a FileKept: it only costs space, so the
 * process goes on.
 */
export type OnLeftover = (error: unknown) => void;

/**
 * Creates the directory, and deletes incomplete files of a crash. Deletes only files older than
 * this process, because others may be writing now.
 */
export function prepareDirectory(directory: string, onLeftover?: OnLeftover): void {
  mkdirSync(directory, { recursive: true });
  for (const file of readdirSync(directory)) {
    if (!temporaryName.test(file)) continue;
    const path = join(directory, file);
    try {
      const age = statSync(path, { throwIfNoEntry: false });
      if (age !== undefined && age.mtimeMs < performance.timeOrigin) rmSync(path, { force: true });
    } catch (error) {
      onLeftover?.(error);
    }
  }
}

/** Syncs the renames in a directory to disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
