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
import { readRecord, writeRecord } from './carried-record.ts';
import { clusterResources } from './cluster-resources.ts';
import { imagesOfSet } from './image-plan.ts';
import type { ImageSet } from './image-set.ts';
import { mappingText, mirroredRepositories, registriesConf } from './mirror-files.ts';
import {
  type ImageToCopy,
  type MirrorPlace,
  MirrorRun,
  type MirrorRunOptions,
} from './mirror-run.ts';

export interface MirrorOptions extends MirrorRunOptions {
  readonly access: RegistryAccess;
}

export interface MirrorResult {
  readonly images: readonly CarriedImage[];
  /** Problems by the image that has them. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Copies the images of an image set to a registry. Nothing there is deleted. */
export async function mirrorToRegistry(
  set: ImageSet,
  registry: MirrorRegistry,
  options: MirrorOptions,
): Promise<MirrorResult> {
  return await copySet(set, registryTargets(registry, options), options);
}

/**
 * Copies the images of an image set into a directory, an OCI layout with a record beside it, to be
 * carried to where `pushDirectory` runs.
 */
export async function mirrorToDirectory(
  set: ImageSet,
  directory: string,
  options: MirrorOptions,
): Promise<MirrorResult> {
  await mkdir(directory, { recursive: true });
  const { target } = await options.access.openTarget({ kind: 'layout', path: directory });
  const place = { target, host: directory, repository: '', isTagged: false };
  let result: MirrorResult;
  try {
    result = await copySet(set, () => place, options);
  } finally {
    // Also after a signal: what is there already is not fetched again by the next run.
    await target.close();
  }
  await writeRecord(directory, result.images);
  return result;
}

/** Copies what a directory was filled with to a registry. Nothing there is deleted. */
export async function pushDirectory(
  directory: string,
  registry: MirrorRegistry,
  options: MirrorOptions,
): Promise<MirrorResult> {
  const run = new MirrorRun(options);
  const images = (await readRecord(directory)).map(
    ({ digest, ...image }): ImageToCopy => ({
      ...image,
      host: directory,
      repository: '',
      open: () =>
        options.access.open({ kind: 'layout', path: directory, name: digest }, options.signal),
    }),
  );
  const copied = await run.copy(images, registryTargets(registry, options));
  return { images: copied, failures: run.failures };
}

/**
 * Writes what clusters need to use a mirror: `registries.conf`, `mapping.txt`, and objects. Returns
 * the names of the files.
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

/** Copies an image set; pruned catalogs are on disk meanwhile. */
async function copySet(
  set: ImageSet,
  target: (path: string) => MirrorPlace,
  options: MirrorOptions,
): Promise<MirrorResult> {
  const { access, signal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-mirror-'));
  try {
    const run = new MirrorRun(options);
    const images = await imagesOfSet(set, { run, access, folder, signal });
    return { images: await run.copy(images, target), failures: run.failures };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function registryTargets(
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

/** @throws TerminalError for what is not `<host>[:<port>][/<path>]` */
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
