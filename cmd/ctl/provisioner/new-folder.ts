import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TerminalError } from '../../../core/errors.ts';

/**
 * Fills a folder, which is made where it is missing, as a whole or not at all: `fill` is given a
 * draft, whose files appear in the folder when it has succeeded.
 * @throws TerminalError where there are files in it already, or it is one; what `fill` throws.
 */
export async function fillFolder(
  folder: string,
  fill: (draft: string) => Promise<void>,
): Promise<void> {
  const isNew = !existsSync(folder);
  if (!isNew && !statSync(folder).isDirectory()) {
    throw new TerminalError(`${folder} is a file: name another folder with --dir`);
  }
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) {
    throw new TerminalError(`${folder} is not empty: name another folder with --dir`);
  }
  // Within it, so that its files need not be copied.
  const draft = await mkdtemp(join(folder, '.new-'));
  try {
    await fill(draft);
    for (const name of await readdir(draft)) await rename(join(draft, name), join(folder, name));
  } finally {
    await rm(draft, { recursive: true, force: true });
    // Left where anything is in it: what was made, or what others have put there.
    if (isNew) await rmdir(folder).catch(() => undefined);
  }
}
