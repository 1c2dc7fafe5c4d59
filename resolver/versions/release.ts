import {
  compareVersions,
  type Identifier,
  parseIdentifier,
  type Version,
  VersionError,
  zeroVersion,
} from './version.ts';

/**
 * Compares versions, and then build metadata where it can be the release of a bundle; any release
 * is higher than none.
 */
export function compareReleases(a: Version, b: Version): number {
  const order = compareVersions(a, b);
  if (order !== 0) return order;
  const [left, right] = [releaseOf(a), releaseOf(b)];
  if (left.length === 0 || right.length === 0) return left.length - right.length;
  return compareVersions(
    { ...zeroVersion, prerelease: left },
    { ...zeroVersion, prerelease: right },
  );
}

const longestRelease = 20;

function releaseOf({ build }: Version): readonly Identifier[] {
  if (build.length === 0 || build.join('.').length > longestRelease) return [];
  try {
    return build.map(parseIdentifier);
  } catch (error) {
    if (error instanceof VersionError) return [];
    throw error;
  }
}
