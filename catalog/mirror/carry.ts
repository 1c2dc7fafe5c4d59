import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ImagePlace } from '../../core/registry/index.ts';
import { type CarriedImage, type MirrorRegistry, repositoryPath } from './carried-images.ts';
import { carriedPlace } from './carried-place.ts';
import {
  type CarriedContent,
  type CarriedRecord,
  contentSince,
  readEarlierRecord,
  readRecord,
  recordName,
  writeRecord,
} from './carried-record.ts';
import type { ImageSet } from './image-set/image-set.ts';
import { copySet, type MirrorOptions, type MirrorResult, registryTargets } from './mirror.ts';
import { type ImageToCopy, MirrorRun } from './mirror-run.ts';

export interface CarryOptions extends MirrorOptions {
  /** Directory, tar or record of an earlier run; this run leaves out its content. */
  readonly since?: string | undefined;
}

export interface CarryResult extends MirrorResult {
  readonly record: CarriedRecord;
}

/**
 * Copies an image set into an OCI layout, a directory or a tar, to carry it to a machine that runs
 * `pushCarried`. Does not fetch existing content again, even after an interrupted run.
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
  const { target } = await access.openTarget(carriedPlace(path), { resume: true });
  const place = { target, host: path, repository: '', isTagged: false };
  try {
    const run = new MirrorRun(options, { earlier });
    const images = await copySet(set, run, { ...options, target: () => place });
    const record = { images, content: run.content, earlier };
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
    const mountFrom = repositoriesOf(record.earlier, registry);
    const isPart = record.earlier.size > 0;
    const hint = isPart
      ? '; it goes on from what was carried before, which is to be pushed first'
      : '';
    const run = new MirrorRun(options, { mountFrom, hint });
    const targets = registryTargets(registry, options);
    const earlier = images.filter(({ isEarlier }) => isEarlier === true);
    const known = await run.confirm(earlier, targets);
    const rest = images.filter(({ isEarlier }) => isEarlier !== true);
    const copied = await run.copy(
      rest.map((image) => toCopy(image, { place, path, options })),
      targets,
    );
    return { images: [...known, ...copied].toSorted(bySource), failures: run.failures };
  } finally {
    await place.close();
  }
}

interface Carried {
  readonly place: ImagePlace;
  readonly path: string;
  readonly options: MirrorOptions;
}

function toCopy(
  { digest, ...image }: CarriedImage,
  { place, path, options }: Carried,
): ImageToCopy {
  return {
    ...image,
    host: path,
    repository: '',
    isShared: true,
    open: async () => ({ place, manifest: await place.manifest(digest, options.signal) }),
  };
}

/** Returns the repository of a blob that an earlier run has carried. */
function repositoriesOf(
  content: CarriedContent,
  registry: MirrorRegistry,
): (digest: string) => string | undefined {
  const paths = new Map<string, string>();
  for (const [path, digests] of content) for (const digest of digests) paths.set(digest, path);
  return (digest) => {
    const path = paths.get(digest);
    return path === undefined ? undefined : repositoryPath(registry, path);
  };
}

function bySource(a: CarriedImage, b: CarriedImage): number {
  return a.source < b.source ? -1 : 1;
}
