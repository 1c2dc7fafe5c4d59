import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/rukpak-ts');

// A clone may have a link for node_modules, which git takes for a file.
const notPacked = /^(test|\.ci)\/|^node_modules$|^(?!scaffold\/|examples\/).*\.test\.ts$/;
const day = 24 * 60 * 60 * 1000;

/**
 * The published package as `npm pack` makes it of this checkout: the path of the .tgz. Packed once
 * for all test files and processes as long as no source changes; from a copy, so that the checkout's
 * own dist is neither in it nor touched.
 */
export async function packedPackage(): Promise<string> {
  const files = await packedFiles();
  const folder = join(cache, `package-${await digestOf(files)}`);
  await mkdir(cache, { recursive: true });
  while (!existsSync(folder)) {
    if (await takeLock(folder)) {
      try {
        if (!existsSync(folder)) await pack(files, folder);
      } finally {
        await rm(lockOf(folder), { recursive: true, force: true });
      }
    } else {
      await delay(500);
    }
  }
  const [name = ''] = await readdir(folder);
  return join(folder, name);
}

/** Of everything that is packed: the same as long as no source changes. */
export async function packedDigest(): Promise<string> {
  return await digestOf(await packedFiles());
}

async function packedFiles(): Promise<readonly string[]> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await run('git', args, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  const known = stdout.split('\0').filter((path) => path !== '' && !notPacked.test(path));
  return known.filter((path) => existsSync(join(root, path))).sort();
}

async function digestOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of files) {
    hash.update(`${path}\0`).update(await readFile(join(root, path)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function pack(files: readonly string[], folder: string): Promise<void> {
  await removeOld();
  // Node runs no TypeScript below a node_modules folder.
  const copy = await mkdtemp(join(tmpdir(), 'rukpak-pack-'));
  const result = `${folder}.result`;
  try {
    await rm(result, { recursive: true, force: true });
    await mkdir(result, { recursive: true });
    for (const path of files) {
      await mkdir(dirname(join(copy, path)), { recursive: true });
      await copyFile(join(root, path), join(copy, path));
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await npmPack(copy, result);
    await rename(result, folder);
  } finally {
    await rm(copy, { recursive: true, force: true });
    await rm(result, { recursive: true, force: true });
  }
}

async function npmPack(folder: string, destination: string): Promise<void> {
  const path = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`;
  const options = { cwd: folder, env: { ...process.env, PATH: path }, maxBuffer: 64 * 1024 * 1024 };
  try {
    await run('npm', ['pack', '--pack-destination', destination, '--loglevel=error'], options);
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm pack failed: ${stdout}${stderr}`, { cause: error });
  }
}

function lockOf(folder: string): string {
  return `${folder}.lock`;
}

async function takeLock(folder: string): Promise<boolean> {
  const lock = lockOf(folder);
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    // A holder that was killed leaves its lock.
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
    if (holder > 0 && !isAlive(holder)) await rm(lock, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What was packed of other content, unless somebody may still be using it. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const made = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (name.startsWith('package-') && Date.now() - made > day) {
      await rm(path, { recursive: true, force: true });
    }
  }
}
