import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TerminalError } from '../../core/errors.ts';
import {
  parseImageReference,
  type RegistryAccess,
  registryHost,
} from '../../core/registry/index.ts';
import {
  type CarriedImage,
  type MirrorRegistry,
  mirrorName,
  repositoryPath,
} from './carried-images.ts';
import { type CarriedRecord, recordText } from './carried-record.ts';
import { clusterResources } from './files/cluster-resources.ts';
import { mappingText, mirroredRepositories, registriesConf } from './files/mirror-files.ts';
import { imagesOfSet } from './image-plan.ts';
import type { ImageSet } from './image-set/image-set.ts';
import {
  type MirrorPlace,
  MirrorRun,
  type MirrorRunOptions,
  type RunDetails,
} from './mirror-run.ts';

export interface MirrorOptions extends MirrorRunOptions {
  readonly access: RegistryAccess;
}

export interface MirrorResult {
  readonly images: readonly CarriedImage[];
  /** Problems by source of the image. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Copies the images of an image set to a registry. Deletes nothing there. */
export async function mirrorToRegistry(
  set: ImageSet,
  registry: MirrorRegistry,
  options: MirrorOptions,
): Promise<MirrorResult> {
  const run = new MirrorRun(options, { lossesOf: lossesFor(options) });
  const images = await copySet(set, run, {
    ...options,
    target: registryTargets(registry, options),
  });
  return { images, failures: run.failures };
}

/** Says what catalogs lose. Loads the code of catalogs only for one that is replaced. */
export function lossesFor({ signal }: MirrorOptions): RunDetails['lossesOf'] {
  return async (catalog) => {
    const { lossesOf } = await import('./catalogs/lost-bundles.ts');
    return await lossesOf(catalog, signal);
  };
}

export interface CopySetOptions extends MirrorOptions {
  /** Returns the place of a repository below the target. */
  readonly target: (path: string) => MirrorPlace;
}

/** Copies an image set; writes pruned catalogs to a temporary folder meanwhile. */
export async function copySet(
  set: ImageSet,
  run: MirrorRun,
  { access, signal, target }: CopySetOptions,
): Promise<readonly CarriedImage[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-mirror-'));
  try {
    const images = await imagesOfSet(set, { run, access, folder, signal });
    return await run.copy(images, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the places of repositories below the registry's prefix. */
export function registryTargets(
  registry: MirrorRegistry,
  { access }: MirrorOptions,
): (path: string) => MirrorPlace {
  const host = registryHost(registry.host);
  return (path) => {
    const reference = parseImageReference(mirrorName(registry, path));
    const target = access.repositoryTarget(reference);
    return { target, host, repository: repositoryPath(registry, path), isTagged: true };
  };
}

/** Files of a run. */
export interface WrittenFiles {
  readonly names: readonly string[];
  /** Files of an earlier run that had other content, which is in `<name>.previous` now. */
  readonly previous: readonly string[];
  /**
   * Files of an earlier run that have other content and stay, as images of this run have failed: its
   * own are in `<name>.incomplete`.
   */
  readonly incomplete: readonly string[];
}

/**
 * Writes the files with which clusters use a mirror: `registries.conf`, `mapping.txt`, and objects. If
 * images have failed, an earlier run may have mirrored them: its files stay, and clusters find them.
 */
export async function writeMirrorFiles(
  folder: string,
  { images, failures }: Pick<MirrorResult, 'images' | 'failures'>,
  registry: MirrorRegistry,
): Promise<WrittenFiles> {
  const repositories = mirroredRepositories(images, registry);
  const files = new Map([
    ['registries.conf', registriesConf(repositories, registry)],
    ['mapping.txt', mappingText(images, registry)],
    ...clusterResources(repositories, images, registry),
  ]);
  return await writeFiles(folder, files, { isComplete: failures.size === 0 });
}

/** Writes the record of a directory or tar, for `since`. */
export async function writeRecordFile(
  folder: string,
  carried: CarriedRecord,
): Promise<WrittenFiles> {
  const files = new Map([['mirror-record.json', recordText(carried)]]);
  return await writeFiles(folder, files, { isComplete: true });
}

async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  { isComplete }: { readonly isComplete: boolean },
): Promise<WrittenFiles> {
  await mkdir(folder, { recursive: true });
  const previous: string[] = [];
  const incomplete: string[] = [];
  for (const [name, text] of files) {
    const path = join(folder, name);
    const isReplaced = await isOther(path, text);
    if (isReplaced && !isComplete) {
      await writeFile(`${path}.incomplete`, text);
      incomplete.push(name);
      continue;
    }
    await writeFile(`${path}.part`, text);
    if (isReplaced) {
      await copyFile(path, `${path}.previous`);
      previous.push(name);
    }
    await rename(`${path}.part`, path);
  }
  const names = [...files.keys()].filter((name) => !incomplete.includes(name));
  return { names, previous, incomplete };
}

/** Whether a file exists and has another text. */
async function isOther(path: string, text: string): Promise<boolean> {
  try {
    return (await readFile(path, 'utf8')) !== text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** @throws TerminalError for a text that is not `<host>[:<port>][/<path>]` */
export function parseMirrorRegistry(
  text: string,
  insecureHosts: readonly string[],
): MirrorRegistry {
  const [host = '', ...path] = text
    .replace(/^docker:\/\//, '')
    .replace(/\/+$/, '')
    .split('/');
  const { domain, tag } = parseImageReference([host, ...path, 'image'].join('/'));
  if (domain !== host || tag !== 'latest') {
    throw new TerminalError(
      `"${text}" is no registry, as in mirror.example:5000 or mirror.example/ocp`,
    );
  }
  return { host, prefix: path.join('/'), insecure: insecureHosts.includes(host) };
}
