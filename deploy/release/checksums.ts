import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

const fileName = 'SHA256SUMS';

/** Writes the digests of all files of a folder, for `sha256sum --check` within it. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines = [...(await digests(folder))].map(([path, digest]) => `${digest}  ${path}\n`);
  await writeFile(join(folder, fileName), lines.join(''));
}

/**
 * Checks that a folder contains only an unchanged release, or nothing.
 * @throws Error that names a file which would be lost with the folder
 */
export async function checkReplaceable(folder: string): Promise<void> {
  const sums = await readFile(join(folder, fileName), 'utf8').catch(() => '');
  const made = new Set(sums.split('\n'));
  for (const [path, digest] of await digests(folder)) {
    if (made.has(`${digest}  ${path}`)) continue;
    throw new Error(
      `${join(folder, path)} is not as a release has it, and would be lost: move it away, or name another folder with --output`,
    );
  }
}

async function digests(folder: string): Promise<ReadonlyMap<string, string>> {
  const options = { recursive: true, withFileTypes: true } as const;
  const entries = await readdir(folder, options).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path !== fileName)
    .sort();
  const found = new Map<string, string>();
  for (const path of paths) {
    const content = await readFile(join(folder, path));
    found.set(path, createHash('sha256').update(content).digest('hex'));
  }
  return found;
}
