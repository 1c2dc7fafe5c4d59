import type { PackageContent } from './package-content.ts';
import type { UpgradePolicy, UpgradeStart } from './successors.ts';

export interface ContentRequest {
  /** Empty for all channels. */
  readonly channels: readonly string[];
  readonly upgrades: UpgradePolicy;
  /** What is installed; it need not be in a channel. */
  readonly from: UpgradeStart;
}

/**
 * What a request can get of a content: the bundles of its channels, and the edges that count. The
 * policy `graph` follows those of the channels, `replaces` those of all.
 */
export function requestedContent(
  content: PackageContent,
  { channels, upgrades, from }: ContentRequest,
): PackageContent {
  if (channels.length === 0) return content;
  const wanted = content.channels.filter(({ name }) => channels.includes(name));
  const names = new Set(wanted.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const bundles = content.bundles.filter(({ name }) => names.has(name) || name === from.name);
  return { ...content, channels: upgrades === 'graph' ? wanted : content.channels, bundles };
}
