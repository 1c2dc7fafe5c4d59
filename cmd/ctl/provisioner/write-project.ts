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
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { packageRoot } from '../../build-info.ts';
import { parseSdk, type Sdk } from './project.ts';

export interface Project {
  /** Name of the class. */
  readonly name: string;
  readonly sdk: Sdk;
}

/** Name of the class in the template. */
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

/** npm leaves files with these dots out of a package. */
function targetOf(path: string): string {
  return path.replace(/(^|\/)_(?=[^/]+$)/, '$1.');
}

function adapted(path: string, text: string, { name, sdk }: Project): string {
  const named = text.replaceAll(templateName, name);
  if (path === 'package.json') return withDependency(named, sdk);
  // Without a packed package there is nothing for the Dockerfile to copy.
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
 * Fills a folder, which it creates if missing, completely or not at all: `fill` receives a draft
 * folder, whose files move into the folder after a success.
 * @throws TerminalError when the folder has files already, or is a file; errors of `fill`.
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
  // Inside the folder, so that its files need not be copied.
  const draft = await mkdtemp(join(folder, '.new-'));
  try {
    await fill(draft);
    // It takes a while, and a rename would replace what somebody has written meanwhile.
    const [other] = (await readdir(folder)).filter((name) => name !== basename(draft));
    if (other !== undefined) {
      throw new TerminalError(
        `${join(folder, other)} was written meanwhile: name another folder with --dir`,
      );
    }
    for (const name of await readdir(draft)) await rename(join(draft, name), join(folder, name));
  } finally {
    await rm(draft, { recursive: true, force: true });
    // Stays when it contains anything, from this command or from others.
    if (isNew) await rmdir(folder).catch(() => undefined);
  }
}

/**
 * Runs npm to write package-lock.json, from which `npm ci` installs; installs nothing.
 * @throws TerminalError with npm's message, and what to do.
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
 * Packs the rukpak-ts package of this program into an empty folder, so that a project uses the
 * version that created it, even when no registry has that.
 * @throws TerminalError with npm's message.
 */
export async function packOwnPackage(destination: string, signal: AbortSignal): Promise<Sdk> {
  const root = packageRoot(import.meta.dirname);
  if (root === undefined)
    throw new TerminalError('this program does not run from a package: use --sdk');
  const isCheckout = existsSync(join(root, 'tsconfig.json'));
  // An installed package was built when it was packed, and its scripts would change it.
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

/** Why npm failed, in its own words if it printed any. */
function npmCause(error: unknown): string {
  const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
  if (code === 'ENOENT') return 'there is no npm on the PATH';
  if (stderr.includes('npm error code EBADENGINE')) return 'npm runs on a Node before 24';
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said = lines
    .filter((line) => /^npm error (?!code |path |command |A complete log)/.test(line))
    .map((line) => line.replace('npm error ', ''));
  // An error line of this project's own scripts has priority.
  const ours = lines.find((line) => line.startsWith('error: '))?.replace('error: ', '');
  return ours ?? said[0] ?? errorMessage(error);
}
