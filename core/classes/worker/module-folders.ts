import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What of the disk our own modules are loaded from. */
export function ownFolders(): readonly string[] {
  const root = packageRoot(import.meta.dirname);
  return [join(root, '/'), ...moduleFolders(root)];
}

/** The folders in which Node looks for packages, from here upwards, as far as they exist. */
export function moduleFolders(from: string): readonly string[] {
  const parent = dirname(from);
  const above = parent === from ? [] : moduleFolders(parent);
  const folder = join(from, 'node_modules');
  return existsSync(folder) ? [folder, ...above] : above;
}

/** Sources are run in place, or from dist/. */
function packageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
  return packageRoot(dirname(folder));
}
