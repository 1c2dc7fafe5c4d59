import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
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
import { clusterResources } from './files/cluster-resources.ts';
import { mappingText, mirroredRepositories, registriesConf } from './files/mirror-files.ts';
import { imagesOfSet } from './image-plan.ts';
import type { ImageSet } from './image-set/image-set.ts';
import { type MirrorPlace, MirrorRun, type MirrorRunOptions } from './mirror-run.ts';

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
  const run = new MirrorRun(options);
  const images = await copySet(set, run, {
    ...options,
    target: registryTargets(registry, options),
  });
  return { images, failures: run.failures };
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

/**
 * Writes the files with which clusters use a mirror: `registries.conf`, `mapping.txt`, and objects.
 * @returns the names of the files
 */
export async function writeMirrorFiles(
  folder: string,
  images: readonly CarriedImage[],
  registry: MirrorRegistry,
): Promise<readonly string[]> {
  const repositories = mirroredRepositories(images, registry);
  const files = new Map([
    ['registries.conf', registriesConf(repositories, registry)],
    ['mapping.txt', mappingText(images, registry)],
    ...clusterResources(repositories, images, registry),
  ]);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) {
    await writeFile(join(folder, `${name}.part`), text);
    await rename(join(folder, `${name}.part`), join(folder, name));
  }
  return [...files.keys()];
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
