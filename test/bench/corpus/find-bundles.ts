import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folders of bundles below a folder, by their path in it: what has manifests is one. */
export function findBundles(root: string, folder = root): readonly string[] {
  if (existsSync(join(folder, 'manifests'))) return [relative(root, folder)];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .toSorted()
    .flatMap((each) => findBundles(root, each));
}
