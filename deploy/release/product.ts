import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LayerFile, type LayerFiles, readArchive } from './image/layer.ts';
import { run } from './run.ts';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export interface Product {
  /** The npm package for `npm publish`. */
  readonly tarball: string;
  readonly version: string;
  /** Time of the commit, RFC 3339 in UTC. */
  readonly created: string;
  readonly revision: string;
  /** Whether files differ from the commit. */
  readonly isDirty: boolean;
  /** The package with its production dependencies, by path from the program's folder. */
  readonly files: LayerFiles;
}

export interface BuildOptions {
  /** An empty folder that the caller removes. */
  readonly work: string;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Files that no program reads: types, source maps, and npm's own metadata. */
const leftOut =
  /^(?:dist|node_modules)\/.*(?:\.d\.[cm]?ts|\.map)$|^node_modules\/\.package-lock\.json$/;

/**
 * Compiles the checkout, and packs it as `npm publish` would, in a copy: does not use or change the
 * checkout's own `dist`.
 */
export async function buildProduct(options: BuildOptions): Promise<Product> {
  const { work, onProgress, signal } = options;
  const source = join(work, 'source');
  await copyCheckout(source, signal);
  const git = (...args: readonly string[]) => run('git', args, { cwd: source, signal });
  const [revision = '', date = ''] = (await git('log', '-1', '--format=%H%n%cI')).split('\n');
  const isDirty = (await git('status', '--porcelain')) !== '';
  onProgress('compiling and packing the npm package');
  const tarball = await npmPack(source, work, signal);
  onProgress('installing production dependencies');
  const dependencies = await productionDependencies(source, work, signal);
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
    version: string;
  };
  const files = new Map<string, LayerFile>();
  for (const [path, file] of await readArchive(await readFile(tarball))) {
    files.set(path.replace(/^package\//, ''), file);
  }
  for (const [path, file] of dependencies) files.set(path, file);
  for (const path of files.keys()) if (leftOut.test(path)) files.delete(path);
  return { tarball, version, created: new Date(date).toISOString(), revision, isDirty, files };
}

/** A clone with the files that git knows or would add, so that the package contains its commit. */
async function copyCheckout(target: string, signal: AbortSignal): Promise<void> {
  const inCheckout = { cwd: projectRoot, signal };
  if (!existsSync(join(projectRoot, '.git'))) {
    throw new Error(`a release needs a git checkout, and ${projectRoot} is not one`);
  }
  await run('git', ['clone', '--quiet', '--shared', '--no-checkout', '.', target], inCheckout);
  await run('git', ['reset', '--quiet'], { cwd: target, signal });
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  for (const path of (await run('git', listed, inCheckout)).split('\0')) {
    // A deleted file that is not committed is still listed.
    if (path === '' || path === 'node_modules' || !existsSync(join(projectRoot, path))) continue;
    await mkdir(dirname(join(target, path)), { recursive: true });
    await copyFile(join(projectRoot, path), join(target, path));
  }
  await writeFile(join(target, '.git/info/exclude'), '/node_modules\n');
  await symlink(join(projectRoot, 'node_modules'), join(target, 'node_modules'));
}

async function npmPack(source: string, work: string, signal: AbortSignal): Promise<string> {
  const destination = join(work, 'packed');
  await mkdir(destination);
  const args = ['pack', '--pack-destination', destination, '--json', '--loglevel=error'];
  const output = await run('npm', args, { cwd: source, env: ownNode(), signal });
  const filename = /"filename":\s*"([^"]+)"/.exec(output)?.[1];
  if (filename === undefined) throw new Error(`npm pack names no file: ${output.slice(0, 500)}`);
  return join(destination, filename);
}

async function productionDependencies(
  source: string,
  work: string,
  signal: AbortSignal,
): Promise<LayerFiles> {
  const folder = join(work, 'dependencies');
  await mkdir(folder);
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    await copyFile(join(source, file), join(folder, file));
  }
  const args = ['ci', '--omit=dev', '--ignore-scripts', '--no-bin-links'];
  await run('npm', args, { cwd: folder, env: ownNode(), signal });
  return await readFolder(folder, 'node_modules');
}

async function readFolder(root: string, folder: string): Promise<LayerFiles> {
  const files = new Map<string, LayerFile>();
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    // The permissions that npm sets depend on the user's umask.
    files.set(relative(root, path), { type: 'File', mode: 0o644, content: await readFile(path) });
  }
  return files;
}

/** npm itself runs on any Node; the project's scripts need the checkout's own. */
function ownNode(): NodeJS.ProcessEnv {
  const path = `${join(projectRoot, 'node_modules/.bin')}:${process.env['PATH']}`;
  return { ...process.env, PATH: path };
}
