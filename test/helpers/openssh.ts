import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { arch, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The server, a library that it needs, and one that gives it users of our own. */
const packages = ['openssh-server', 'libwrap0', 'libnss-wrapper'];

/**
 * The folder of Debian's OpenSSH server, unpacked but not installed: brought into the user's cache
 * by the first test that needs it.
 */
export async function opensshFolder(): Promise<string> {
  const folder = await cacheFolder();
  if (await exists(join(folder, 'usr/sbin/sshd'))) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const fresh = await mkdtemp(`${folder}-`);
  try {
    await download(fresh);
    // Whoever is first wins; the folder is complete at once.
    await rename(fresh, folder).catch((error: unknown) => renamedByOther(error, folder));
  } catch (error) {
    throw new Error(
      `these tests need an OpenSSH server, and "apt-get download ${packages.join(' ')}" brought none: run "apt-get update" on a Debian machine`,
      { cause: error },
    );
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return folder;
}

async function cacheFolder(): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const field = (name: string) => new RegExp(`^${name}="?([\\w.]+)`, 'm').exec(release)?.[1] ?? '';
  const named = process.env['XDG_CACHE_HOME'] ?? '';
  const base = isAbsolute(named) ? named : join(homedir(), '.cache');
  return join(base, 'rukpak-ts/openssh', `${field('ID')}${field('VERSION_ID')}-${arch()}`);
}

async function download(folder: string): Promise<void> {
  await run('apt-get', ['download', ...packages], { cwd: folder, timeout: 240_000 });
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.deb')) continue;
    await run('dpkg', ['-x', name, '.'], { cwd: folder });
    await rm(join(folder, name));
  }
}

async function renamedByOther(error: unknown, folder: string): Promise<void> {
  if (!(await exists(folder))) throw error;
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
