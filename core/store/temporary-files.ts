import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

const suffix = '.tmp';

/** A unique name for a file that is renamed when it is complete. */
export function temporaryPath(directory: string): string {
  return join(directory, `.${randomUUID()}${suffix}`);
}

/**
 * Receives the error of a file that could not be deleted: it only costs space, so the process goes
 * on.
 */
export type OnLeftover = (error: unknown) => void;

/**
 * Creates the directory, and deletes incomplete files of a crash. Deletes only files older than
 * this process, because others may be writing now.
 */
export function prepareDirectory(directory: string, onLeftover?: OnLeftover): void {
  mkdirSync(directory, { recursive: true });
  for (const file of readdirSync(directory)) {
    if (!file.startsWith('.') || !file.endsWith(suffix)) continue;
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
