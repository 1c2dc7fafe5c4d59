import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type ImagePlace,
  type ImageToRead,
  MismatchError,
  readWholeImage,
} from '../../core/registry/index.ts';
import { type CarriedImage, type MirrorRegistry, repositoryPath } from './carried-images.ts';
import { CompletedPlace, carriedPlace } from './carried-place.ts';
import {
  type CarriedContent,
  type CarriedRecord,
  contentSince,
  findRecord,
  joined,
  readEarlierRecord,
  readRecord,
  recordName,
  writeRecord,
} from './carried-record.ts';
import type { ImageSet } from './image-set/image-set.ts';
import type { ImageToCopy } from './image-to-copy.ts';
import {
  copySet,
  lossesFor,
  type MirrorOptions,
  type MirrorResult,
  registryTargets,
} from './mirror.ts';
import { MirrorRun } from './mirror-run.ts';

export interface CarryOptions extends MirrorOptions {
  /** Directory, tar or record of an earlier run; this run leaves out its content. */
  readonly since?: string | undefined;
}

export interface CarryResult extends MirrorResult {
  readonly record: CarriedRecord;
}

/**
 * Copies an image set into an OCI layout, a directory or a tar, to carry it to a machine that runs
 * `pushCarried`. Does not fetch existing content again, even after an interrupted run. Keeps the
 * images of earlier runs.
 */
export async function mirrorToCarried(
  set: ImageSet,
  path: string,
  options: CarryOptions,
): Promise<CarryResult> {
  const { access, since, signal } = options;
  const earlier =
    since === undefined ? new Map() : contentSince(await readEarlierRecord(since, options));
  await mkdir(dirname(path), { recursive: true });
  const { target } = await access.openTarget(carriedPlace(path), { resume: recordName, signal });
  const place = { target, host: path, repository: '', isTagged: false };
  try {
    const former = await findRecord(target.place, signal);
    const run = new MirrorRun(options, { earlier });
    const images = await copySet(set, run, { ...options, target: () => place });
    const copied = { images, content: run.content, earlier };
    const record =
      former === undefined
        ? copied
        : await withFormer(copied, former, { place: target.place, path, run, options });
    await writeRecord(target, record, signal);
    await target.close();
    return { images, failures: run.failures, record };
  } catch (error) {
    // With `resume`, `discard` keeps the content for the next run.
    await target.discard();
    throw error;
  }
}

/** Copies the content of a directory or tar to a registry. Deletes nothing there. */
export async function pushCarried(
  path: string,
  registry: MirrorRegistry,
  options: MirrorOptions,
): Promise<MirrorResult> {
  const { access, signal } = options;
  const { place } = await access.open({ ...carriedPlace(path), name: recordName }, signal);
  try {
    const record = await readRecord(place, signal);
    const { images } = record;
    const paths = pathsOf(record.earlier);
    const mountFrom = (digest: string): string | undefined => {
      const repository = paths.get(digest);
      return repository === undefined ? undefined : repositoryPath(registry, repository);
    };
    const isPart = record.earlier.size > 0;
    const hint = (error: unknown): string => {
      if (error instanceof MismatchError) return `; ${repairOf(path)}`;
      return isPart ? '; push the earlier directory or tar first' : '';
    };
    const lossesOf = lossesFor(options);
    const run = new MirrorRun(options, { mountFrom, hint, lossesOf });
    const targets = registryTargets(registry, options);
    // Not all registries mount blobs.
    const whole = new CompletedPlace(place, { paths, targets });
    const earlier = images.filter(({ isEarlier }) => isEarlier === true);
    const known = await run.confirm(earlier, targets);
    const rest = images.filter(({ isEarlier }) => isEarlier !== true);
    const copied = await run.copy(
      rest.map((image) => toCopy(image, { place: whole, path, record, options })),
      targets,
    );
    return { images: [...known, ...copied].toSorted(bySource), failures: run.failures };
  } finally {
    await place.close();
  }
}

/** A further run does not read again what a directory or tar has. */
function repairOf(path: string): string {
  return carriedPlace(path).kind === 'archive'
    ? 'the tar is damaged: fill a new one, and carry it'
    : 'the directory is damaged: delete the file of this blob in its folder blobs, fill it once more, and carry it';
}

interface Filled {
  readonly place: ImagePlace;
  readonly path: string;
  readonly run: MirrorRun;
  readonly options: MirrorOptions;
}

function nameOf({ path, tag }: CarriedImage): string {
  return `${path}:${tag}`;
}

/** Adds to the record of a run what an earlier one has copied to the same directory or tar. */
async function withFormer(
  copied: CarriedRecord,
  former: CarriedRecord,
  { place, path, run, options }: Filled,
): Promise<CarriedRecord> {
  const rest = new Map(former.images.map((image) => [nameOf(image), image]));
  const images = copied.images.map((image): CarriedImage => {
    const same = rest.get(nameOf(image));
    rest.delete(nameOf(image));
    if (same?.digest !== image.digest || same.isEarlier === true) return image;
    // It is here, also where the run has left it out as carried before.
    const { isEarlier: _, ...here } = image;
    return here;
  });
  const content = new Map<string, Set<string>>();
  const kept: CarriedImage[] = [];
  for (const image of rest.values()) {
    const hasPart = partsIn(place, former.content.get(image.path), options);
    const digests = await contentOf(image, place, { ...options, hasPart });
    if (digests === undefined) continue;
    kept.push(image);
    content.set(image.path, new Set([...(content.get(image.path) ?? []), ...digests]));
  }
  if (kept.length > 0) {
    const [images, them] =
      kept.length === 1 ? ['1 image', 'it'] : [`${kept.length} images`, 'them'];
    const text = `${path} still has ${images} of earlier runs, which --from pushes too; name a new directory or tar to leave ${them} out`;
    run.tell({ kind: 'note', text });
  }
  return {
    images: [...images, ...kept].toSorted(bySource),
    content: joined(copied.content, content),
    earlier: joined(copied.earlier, former.earlier),
  };
}

/**
 * Digests of an image's manifests and blobs, as far as they can be read: a later run carries the
 * others once more. Undefined for an image that the place no longer has.
 */
async function contentOf(
  { digest, isEarlier }: CarriedImage,
  place: ImagePlace,
  { hasPart, signal }: Pick<ImageToRead, 'hasPart' | 'signal'>,
): Promise<readonly string[] | undefined> {
  // The directory or tar has never had it.
  if (isEarlier === true) return [];
  if ((await place.findDigest(digest, signal)) === undefined) return undefined;
  try {
    const manifest = await place.manifest(digest, signal);
    const image = { place, manifest, hasPart, withAttached: true, signal };
    const { manifests, blobs } = await readWholeImage(image);
    return [...manifests, ...blobs].map((each) => each.digest);
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/**
 * Which images of an index a directory or tar has: a run with `--platform` has left out the others.
 * One that the record lists, and that is not there, is lost, and must be missed.
 */
function partsIn(
  place: ImagePlace,
  recorded: ReadonlySet<string> | undefined,
  { signal }: Pick<MirrorOptions, 'signal'>,
): (digest: string) => Promise<boolean> {
  return async (digest) =>
    recorded?.has(digest) === true || (await place.findDigest(digest, signal)) !== undefined;
}

interface Carried {
  readonly place: ImagePlace;
  readonly path: string;
  readonly record: CarriedRecord;
  readonly options: MirrorOptions;
}

function toCopy(
  { digest, ...image }: CarriedImage,
  { place, path, record, options }: Carried,
): ImageToCopy {
  const { content } = record;
  return {
    ...image,
    host: path,
    repository: '',
    isShared: true,
    hasPart: partsIn(place, content.get(image.path), options),
    isOther: (other) => isElsewhere(other, image.path, record),
    open: async () => ({ place, manifest: await place.manifest(digest, options.signal) }),
  };
}

/** Whether a manifest is an image itself, or attached to those of other repositories. */
function isElsewhere(digest: string, path: string, { images, content }: CarriedRecord): boolean {
  if (images.some((image) => image.digest === digest)) return true;
  if (content.get(path)?.has(digest) === true) return false;
  return [...content.values()].some((digests) => digests.has(digest));
}

/** Paths of repositories that have the content of earlier runs, by digest. */
function pathsOf(content: CarriedContent): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const [path, digests] of content) for (const digest of digests) paths.set(digest, path);
  return paths;
}

function bySource(a: CarriedImage, b: CarriedImage): number {
  return a.source < b.source ? -1 : 1;
}
