import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

const suffix = '.tmp';

/** For a file that is renamed when it is whole: a name that nothing else has. */
export function temporaryPath(directory: string): string {
  return join(directory, `.${randomUUID()}${suffix}`);
}

/** Is told what could not be removed: it costs space, and is no reason to end. */
export type OnLeftover = (error: unknown) => void;

/**
 * Makes the directory, and removes what a crash left half written in it. Only what is older than
 * this process: others in it may be writing just now.
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

/** Makes the renames in a directory last. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
