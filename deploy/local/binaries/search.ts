import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { BinaryName } from './catalogue.ts';
import { BINARIES } from './catalogue.ts';
import { pinnedVersion, versionAfter } from './modules.ts';

const VERSION_MILLISECONDS = 10_000;

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The binary in this folder, if it exists and is executable. */
export async function inFolder(dir: string, name: BinaryName): Promise<string | undefined> {
  const file = join(dir, name);
  return (await isExecutable(file)) ? file : undefined;
}

async function fits(file: string, name: BinaryName): Promise<boolean> {
  const { versionArgs, versionPrefix, fits: serves } = BINARIES[name];
  try {
    const { stdout, stderr } = await promisify(execFile)(file, [...versionArgs], {
      timeout: VERSION_MILLISECONDS,
    });
    const found = versionAfter(versionPrefix, `${stdout}\n${stderr}`);
    return found !== undefined && serves(found, await pinnedVersion(name));
  } catch {
    return false;
  }
}

/** The first binary on PATH with a suitable version. */
export async function onPath(path: string, name: BinaryName): Promise<string | undefined> {
  // A relative entry would depend on the folder in which the cluster is used.
  for (const dir of path.split(delimiter).filter((entry) => entry.startsWith('/'))) {
    const file = await inFolder(dir, name);
    if (file !== undefined && (await fits(file, name))) return file;
  }
  return undefined;
}
