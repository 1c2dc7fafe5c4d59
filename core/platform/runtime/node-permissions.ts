import { existsSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';

/** Files and folders that a process may use, besides reading this package. */
export interface FileAccess {
  readonly readable: readonly string[];
  /** May be read too. */
  readonly writable?: readonly string[];
}

/** Node records coverage through its inspector, and warns about that. */
const forCoverage = ['--allow-inspector', '--disable-warning=PERM0004'] as const;

/** Variables of Node that name a folder which it writes to. */
export interface DevelopmentVariables {
  readonly NODE_V8_COVERAGE?: string;
  readonly NODE_COMPILE_CACHE?: string;
}

/**
 * For a process of our own code that reads what strangers wrote: the folder that `npm run coverage`
 * records in and, from a checkout, where translating TypeScript is most of its start, the folder of
 * what is translated. Programs with credentials use another one: they must not run what it holds.
 */
export function developmentVariables(): DevelopmentVariables {
  const { NODE_V8_COVERAGE, NODE_COMPILE_CACHE } = process.env;
  const isCheckout = extname(import.meta.filename) === '.ts';
  return {
    ...(NODE_V8_COVERAGE ? { NODE_V8_COVERAGE } : {}),
    ...(NODE_COMPILE_CACHE && isCheckout
      ? { NODE_COMPILE_CACHE: `${resolve(NODE_COMPILE_CACHE)}-restricted` }
      : {}),
  };
}

/**
 * Flags of Node for a process that reads what strangers wrote: they deny all other files, child
 * processes, threads, add-ons, WASI and the inspector. An exploited parser then cannot reach tokens.
 * @param variables those of the process's environment
 */
export function nodePermissions(
  { readable, writable = [] }: FileAccess,
  variables: DevelopmentVariables = {},
): readonly string[] {
  // A folder that is not there yet is one to Node only by its wildcard.
  const folders = Object.values(variables).map((path) => join(path, '*'));
  const written = [...writable.map((path) => resolve(path)), ...folders];
  const read = [...ownFolders(), ...readable.map((path) => resolve(path)), ...written];
  return [
    '--permission',
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...written.map((path) => `--allow-fs-write=${path}`),
    ...(variables.NODE_V8_COVERAGE === undefined ? [] : forCoverage),
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
