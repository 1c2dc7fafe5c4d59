import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { homedir } from 'node:os';
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { errorMessage } from '../../core/errors.ts';
import { moduleFolders } from '../../core/platform/runtime/index.ts';

/** A class's module, and the paths that it may read. */
interface ProvisionerModule {
  readonly module: URL;
  readonly readable: readonly string[];
}

const extensions = ['.ts', '.mts', '.js', '.mjs'];

/**
 * Resolves `--provisioner`: a file, a folder with a package.json, or a package installed in the
 * user's folder.
 * @throws Error that says why there is no such module.
 */
export function provisionerModule(
  name: string,
  from = process.cwd(),
  secret = credentialFolders(),
): ProvisionerModule {
  const found = isPath(name) ? moduleAt(resolve(from, name)) : moduleOfPackage(name, from);
  for (const folder of found.readable) {
    const exposed = secret.find((place) => isWithin(place, folder));
    if (exposed === undefined) continue;
    throw new Error(
      `a class may read all of its folder ${folder}, which contains ${exposed}: move the class into a separate folder`,
    );
  }
  return found;
}

function isPath(name: string): boolean {
  return name.startsWith('.') || isAbsolute(name) || extensions.includes(extname(name));
}

function moduleAt(path: string): ProvisionerModule {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`there is no file or folder ${path}`);
  if (found.isDirectory()) return moduleAt(packageEntry(join(path, 'package.json')));
  if (!extensions.includes(extname(path))) {
    throw new Error(`${path} is not a module: its name must end with ${extensions.join(', ')}`);
  }
  return { module: pathToFileURL(path), readable: readableFrom(path) };
}

function moduleOfPackage(name: string, from: string): ProvisionerModule {
  const found = packageFile(name, from);
  if (found === undefined) {
    throw new Error(
      `there is no package "${name}" in the node_modules of ${from} or above: install it, or write ./${name} for a file or folder`,
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

/**
 * Folders with the manager's credentials, which a class must not read: a pod's token, a user's
 * kubeconfig.
 */
function credentialFolders(): readonly string[] {
  return ['/var/run/secrets', '/run/secrets', join(homedir(), '.kube')];
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Its package, or otherwise its folder, and the packages that it may import; also behind links. */
function readableFrom(path: string): readonly string[] {
  const folders = [path, realpathSync(path)].flatMap((file) => {
    const folder = dirname(file);
    const manifest = findPackageJSON(pathToFileURL(file));
    const own = manifest === undefined ? folder : dirname(manifest);
    return [own, folder, ...moduleFolders(folder)];
  });
  return [...new Set(folders)];
}

const manifestSchema = z.object({
  main: z.string().optional(),
  exports: z.unknown().optional(),
});

/** Conditions under which Node imports a module. */
const conditions: readonly string[] = ['import', 'node', 'module-sync', 'default'];

/**
 * The file that a package's manifest (package.json) names for an import; `subpath` is `.` or starts
 * with `../`.
 * @throws Error that names the missing part of the manifest.
 */
function packageEntry(manifestFile: string, subpath = '.'): string {
  const { main, exports } = readManifest(manifestFile);
  const own = subpath === '.' ? (main ?? 'index.js') : subpath;
  const target = exports === undefined ? own : targetOf(exports, subpath);
  if (target === undefined) {
    throw new Error(`${manifestFile} exports nothing at "${subpath}" for import`);
  }
  const file = join(dirname(manifestFile), target);
  if (!existsSync(file)) throw new Error(`${manifestFile} names ${target}, which does not exist`);
  return file;
}

function readManifest(file: string): z.infer<typeof manifestSchema> {
  if (!existsSync(file)) throw new Error(`there is no ${file}: name the module’s file`);
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

function targetOf(exports: unknown, subpath: string): string | undefined {
  const bySubpath = Object.keys(Object(exports) as object).some((key) => key.startsWith('.'));
  if (bySubpath) return underConditions((exports as Record<string, unknown>)[subpath]);
  return subpath === '.' ? underConditions(exports) : undefined;
}

function underConditions(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  for (const [condition, nested] of Object.entries(Object(target) as object)) {
    if (!conditions.includes(condition)) continue;
    const found = underConditions(nested);
    if (found !== undefined) return found;
  }
  return undefined;
}
