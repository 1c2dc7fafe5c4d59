import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Files and folders that a process may use, besides reading this package. */
export interface FileAccess {
  readonly readable: readonly string[];
  /** May be read too. */
  readonly writable?: readonly string[];
}

/** Node records coverage through its inspector, and warns about that. */
const forCoverage = ['--allow-inspector', '--disable-warning=PERM0004'] as const;

/**
 * Flags of Node for a process that reads what strangers wrote: they deny all other files, child
 * processes, threads, add-ons, WASI and the inspector. An exploited parser then cannot reach tokens.
 * @param coverage folder that `npm run coverage` records in
 */
export function nodePermissions(
  { readable, writable = [] }: FileAccess,
  coverage = process.env['NODE_V8_COVERAGE'],
): readonly string[] {
  const written = [...writable.map((path) => resolve(path)), ...(coverage ? [coverage] : [])];
  const read = [...ownFolders(), ...readable.map((path) => resolve(path)), ...written];
  return [
    '--permission',
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...written.map((path) => `--allow-fs-write=${path}`),
    ...(coverage ? forCoverage : []),
    // SQLite opens and writes any file, regardless of those permissions.
    '--no-experimental-sqlite',
  ];
}

/** Folders from which the package's own modules are loaded. */
function ownFolders(): readonly string[] {
  const root = packageRoot(import.meta.dirname);
  return [join(root, '/'), ...moduleFolders(root)];
}

/** The existing folders in which Node looks for packages, from here upwards. */
export function moduleFolders(from: string): readonly string[] {
  const parent = dirname(from);
  const above = parent === from ? [] : moduleFolders(parent);
  const folder = join(from, 'node_modules');
  return existsSync(folder) ? [folder, ...above] : above;
}

/** The program runs from its sources, or from dist/. */
function packageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
  return packageRoot(dirname(folder));
}
