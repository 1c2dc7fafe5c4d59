import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { packageRoot } from '../../build-info.ts';
import { parseSdk, type Sdk } from './project.ts';

export interface Project {
  /** Of the class. */
  readonly name: string;
  readonly sdk: Sdk;
}

/** What the class of the template is called. */
const templateName = 'example-class';

/** Writes the project into an empty folder. */
export async function writeProject(folder: string, project: Project): Promise<void> {
  for (const path of await templateFiles()) {
    const target = join(folder, targetOf(path));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, adapted(path, await readFile(join(template, path), 'utf8'), project));
  }
  const { tarball, dependency } = project.sdk;
  if (tarball === undefined) return;
  const vendored = join(folder, dependency.replace(/^file:/, ''));
  await mkdir(dirname(vendored), { recursive: true });
  await copyFile(tarball, vendored);
}

// The compiled program lies one folder deeper than its source, in dist.
const beside = new URL('../../../scaffold/provisioner/', import.meta.url);
const besideDist = new URL('../../../../scaffold/provisioner/', import.meta.url);
const template = fileURLToPath(existsSync(beside) ? beside : besideDist);

async function templateFiles(): Promise<readonly string[]> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(template.length))
    .sort();
}

/** npm takes no files with these dots along in a package. */
function targetOf(path: string): string {
  return path.replace(/(^|\/)_(?=[^/]+$)/, '$1.');
}

function adapted(path: string, text: string, { name, sdk }: Project): string {
  const named = text.replaceAll(templateName, name);
  if (path === 'package.json') return withDependency(named, sdk);
  // What is not there cannot be copied.
  if (path === 'Dockerfile' && sdk.tarball === undefined)
    return named.replace(/^COPY vendor.*\n/m, '');
  return named;
}

function withDependency(text: string, { dependency }: Sdk): string {
  const manifest = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  const dependencies = { ...manifest.dependencies, 'rukpak-ts': dependency };
  return `${JSON.stringify({ ...manifest, dependencies }, null, 2)}\n`;
}

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

/**
 * Has npm write package-lock.json, which `npm ci` installs from; nothing is installed yet.
 * @throws TerminalError that says what npm said, and what to do.
 */
export async function writeLockFile(folder: string, signal: AbortSignal): Promise<void> {
  const args = ['install', '--package-lock-only', '--no-audit', '--no-fund'];
  try {
    await promisify(execFile)('npm', args, { cwd: folder, signal });
  } catch (error) {
    signal.throwIfAborted();
    const cause = npmCause(error);
    const way = cause.includes('rukpak-ts')
      ? 'leave out --sdk to take the rukpak-ts that makes the project, or name a file that npm pack has made'
      : 'try again';
    throw new TerminalError(`npm cannot write the project's package-lock.json (${cause}): ${way}`, {
      cause: error,
    });
  }
}

/**
 * Packs the rukpak-ts that this program is of into an empty folder: a project then has what has made
 * it, whether any registry has that or not.
 * @throws TerminalError that says what npm said.
 */
export async function packOwnPackage(destination: string, signal: AbortSignal): Promise<Sdk> {
  const root = packageRoot(import.meta.dirname);
  if (root === undefined)
    throw new TerminalError('this program is no part of a package: use --sdk');
  const isCheckout = existsSync(join(root, 'tsconfig.json'));
  // What is installed was built when it was packed, and its scripts would change it.
  const scripts = isCheckout ? [] : ['--ignore-scripts'];
  const args = ['pack', root, '--pack-destination', destination, '--loglevel=error', ...scripts];
  try {
    await promisify(execFile)('npm', args, { cwd: root, signal, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    signal.throwIfAborted();
    throw new TerminalError(`npm cannot pack ${root} for the project: ${npmCause(error)}`, {
      cause: error,
    });
  }
  const [name = ''] = await readdir(destination);
  return parseSdk(join(destination, name));
}

/** Why npm has failed, in its own words where it has any. */
function npmCause(error: unknown): string {
  const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
  if (code === 'ENOENT') return 'there is no npm on the PATH';
  if (stderr.includes('npm error code EBADENGINE')) return 'npm runs on a Node before 24';
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said = lines
    .filter((line) => /^npm error (?!code |path |command |A complete log)/.test(line))
    .map((line) => line.replace('npm error ', ''));
  // What a script of ours says comes before.
  const ours = lines.find((line) => line.startsWith('error: '))?.replace('error: ', '');
  return ours ?? said[0] ?? errorMessage(error);
}
