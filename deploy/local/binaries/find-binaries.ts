import { createHash } from 'node:crypto';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { type Progress, userCache, withLock } from '../../go-build/index.ts';
import type { BinaryName } from './catalogue.ts';
import { BINARY_NAMES } from './catalogue.ts';
import { modulesHash } from './modules.ts';
import type { ObtainOptions } from './obtain.ts';
import { obtainBinaries } from './obtain.ts';
import { OFFICIAL_HOSTS } from './releases.ts';
import { inFolder, onPath } from './search.ts';

/** The path of each binary. */
export type Binaries = Readonly<Record<BinaryName, string>>;

/** Puts binaries that are missing on this machine into a folder. */
export type Obtain = (
  names: readonly BinaryName[],
  dir: string,
  options: ObtainOptions,
) => Promise<void>;

export interface FindOptions {
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
  /** KUBEBUILDER_ASSETS, XDG_CACHE_HOME, HOME, PATH and Go's own (default: the process's). */
  readonly env?: NodeJS.ProcessEnv;
  readonly obtain?: Obtain;
}

type Found = Partial<Record<BinaryName, string>>;

const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

function hostPlatform() {
  const machine = arch();
  return { os: platform(), arch: GO_ARCHITECTURES[machine] ?? machine };
}

/** The user's folder for binaries of exactly the pinned versions and this platform. */
export async function cacheFolder(env: NodeJS.ProcessEnv): Promise<string> {
  const { os, arch: machine } = hostPlatform();
  return join(userCache(env), 'control-plane', `${await modulesHash()}-${os}-${machine}`);
}

async function search(
  found: Found,
  look: (name: BinaryName) => Promise<string | undefined>,
): Promise<Found> {
  const result: Found = { ...found };
  for (const name of BINARY_NAMES) {
    if (result[name] !== undefined) continue;
    const file = await look(name);
    if (file !== undefined) result[name] = file;
  }
  return result;
}

const missingFrom = (found: Found) => BINARY_NAMES.filter((name) => found[name] === undefined);

async function searchMachine(env: NodeJS.ProcessEnv, cache: string): Promise<Found> {
  const assets = env['KUBEBUILDER_ASSETS'] ?? '';
  const named = assets === '' ? {} : await search({}, (name) => inFolder(resolve(assets), name));
  const cached = await search(named, (name) => inFolder(cache, name));
  return search(cached, (name) => onPath(env['PATH'] ?? '', name));
}

/**
 * Finds every binary of the local control plane: in KUBEBUILDER_ASSETS, in the user's cache folder,
 * or on PATH with a suitable version. Downloads or builds missing ones into the cache folder.
 * Concurrent processes wait for each other.
 */
export async function findBinaries(options: FindOptions): Promise<Binaries> {
  const { onProgress, signal, env = process.env, obtain = obtainBinaries } = options;
  const cache = await cacheFolder(env);
  let found = await searchMachine(env, cache);
  if (missingFrom(found).length > 0) {
    await mkdir(cache, { recursive: true });
    const lock = join(cache, '.lock');
    const purpose = 'getting the binaries';
    await withLock(lock, { purpose, onProgress, signal }, async () => {
      // Another process may have added them while this one waited.
      found = await search(found, (name) => inFolder(cache, name));
      const names = missingFrom(found);
      const how = { env, platform: hostPlatform(), hosts: OFFICIAL_HOSTS, onProgress, signal };
      if (names.length > 0) await obtain(names, cache, how);
      found = await search(found, (name) => inFolder(cache, name));
    });
  }
  const left = missingFrom(found);
  if (left.length > 0) throw new Error(`${left.join(', ')} did not appear in ${cache}`);
  return found as Binaries;
}

/**
 * One folder with all the binaries, with kubectl only if it is not on PATH. A folder of symbolic
 * links in the cache when they are in several folders.
 */
export async function folderOf(binaries: Binaries, env: NodeJS.ProcessEnv): Promise<string> {
  const path = (env['PATH'] ?? '').split(':');
  const files = Object.values(binaries).filter(
    (file) => !(basename(file) === 'kubectl' && path.includes(dirname(file))),
  );
  const [first = '', ...others] = new Set(files.map((file) => dirname(file)));
  if (others.length === 0) return first;
  const id = createHash('sha256').update(files.join('\n')).digest('hex').slice(0, 16);
  const links = join(dirname(await cacheFolder(env)), `links-${id}`);
  await mkdir(links, { recursive: true });
  for (const file of files) {
    const link = join(links, basename(file));
    await rm(link, { force: true });
    await symlink(file, link);
  }
  return links;
}
