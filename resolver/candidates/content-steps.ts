import type { ChannelEntry, PackageContent } from './package-content.ts';

const bundleSteps = 20;
const entrySteps = 10;
/** Of each character of a skipRange, which is read as often as its entry. */
const rangeSteps = 5;

/** Steps of all loops over a package's bundles and channel entries, as a Budget counts them. */
export function contentSteps({ bundles, channels, deprecations }: PackageContent): number {
  const ofEntries = channels.reduce((sum, { entries }) => sum + entriesSteps(entries), 0);
  return bundleSteps * (bundles.length + deprecations.length) + ofEntries;
}

function entriesSteps(entries: readonly ChannelEntry[]): number {
  return entries.reduce(
    (sum, { skips, skipRange = '' }) =>
      sum + entrySteps + 4 * skips.length + rangeSteps * skipRange.length,
    0,
  );
}
