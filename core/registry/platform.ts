import { TerminalError } from '../errors.ts';

/** Platform of an image; bundles do not run, but their images may be built for several. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string | undefined;
}

/** Go's names for the architectures that Node runs on. */
const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  ppc64: 'ppc64le',
};

/** Linux on the architecture of this process. */
export function nodePlatform(): Platform {
  return { os: 'linux', architecture: architectures[process.arch] ?? process.arch };
}

/** Fields of an index entry that decide its selection. */
interface IndexEntry {
  readonly platform?: Platform | undefined;
  readonly artifactType?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * The first manifest of an index for the platform, else the only one without a platform. Ignores
 * attestations and signatures beside the images.
 */
export function selectPlatform<T extends IndexEntry>(entries: readonly T[], wanted: Platform): T {
  const images = entries.filter((entry) => !isBesideImages(entry));
  const found = images.find(({ platform }) => matches(platform, wanted));
  if (found !== undefined) return found;
  const [forAll, another] = images.filter(({ platform }) => platform === undefined);
  if (forAll !== undefined && another === undefined) return forAll;
  const offered = images.map(({ platform }) => platformName(platform)).slice(0, 20);
  throw new TerminalError(
    `image index has no manifest for ${platformName(wanted)}; it has ${offered.join(', ') || 'none at all'}`,
  );
}

/** BuildKit's attestations have `unknown` as their platform. */
function isBesideImages({ platform, artifactType, annotations }: IndexEntry): boolean {
  return (
    (artifactType ?? '') !== '' ||
    platform?.os === 'unknown' ||
    annotations?.['vnd.docker.reference.type'] !== undefined
  );
}

function matches(platform: Platform | undefined, wanted: Platform): boolean {
  return (
    platform?.os === wanted.os &&
    platform.architecture === wanted.architecture &&
    (wanted.variant === undefined || platform.variant === wanted.variant)
  );
}

function platformName(platform: Platform | undefined): string {
  if (platform === undefined) return 'one without a platform';
  return [platform.os, platform.architecture, platform.variant]
    .filter((part) => part !== undefined && part !== '')
    .join('/');
}
