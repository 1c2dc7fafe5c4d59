import { realpathSync, statSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { moduleFolders } from '../core/runtime/worker/module-folders.ts';
import { packageEntry } from './package-entry.ts';

/** Where a class's module is, and what of the disk it may read. */
export interface ProvisionerModule {
  readonly module: URL;
  readonly readable: readonly string[];
}

const extensions = ['.ts', '.mts', '.js', '.mjs'];

/**
 * What `--provisioner` names: a file, a folder with a package.json, or a package that is installed
 * where the user is.
 * @throws Error that says why there is no such module.
 */
export function provisionerModule(name: string, from = process.cwd()): ProvisionerModule {
  return isPath(name) ? moduleAt(resolve(from, name)) : moduleOfPackage(name, from);
}

function isPath(name: string): boolean {
  return name.startsWith('.') || isAbsolute(name) || extensions.includes(extname(name));
}

function moduleAt(path: string): ProvisionerModule {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`there is no file or folder ${path}`);
  if (found.isDirectory()) return moduleAt(packageEntry(join(path, 'package.json')));
  if (!extensions.includes(extname(path))) {
    throw new Error(`${path} is no module: its name must end with ${extensions.join(', ')}`);
  }
  return { module: pathToFileURL(path), readable: readableFrom(path) };
}

function moduleOfPackage(name: string, from: string): ProvisionerModule {
  const found = packageFile(name, from);
  if (found === undefined) {
    throw new Error(
      `there is no package "${name}" in the node_modules of ${from} or above: install it, or write ./${name} for a folder`,
    );
  }
  const [scope = '', rest = ''] = name.startsWith('@') ? name.split('/') : [];
  const ofPackage = scope === '' ? (name.split('/')[0] ?? '') : `${scope}/${rest}`;
  return moduleAt(packageEntry(found, `.${name.slice(ofPackage.length)}`));
}

function packageFile(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(join(from, 'here')));
  } catch {
    return undefined;
  }
}

/** Its package or, where it has none, its folder; the packages that it may import; behind links too. */
function readableFrom(path: string): readonly string[] {
  const folders = [path, realpathSync(path)].flatMap((file) => {
    const folder = dirname(file);
    const manifest = findPackageJSON(pathToFileURL(file));
    const own = manifest === undefined ? folder : dirname(manifest);
    return [own, folder, ...moduleFolders(folder)];
  });
  return [...new Set(folders)];
}
