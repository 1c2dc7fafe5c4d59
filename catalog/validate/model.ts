import type { ChannelEntry } from '../blobs/index.ts';
import type { BundleFacts } from './bundle-facts.ts';

/** A catalog for the checks: packages, their channels, and bundles by the entries of channels. */
export interface PackageModel {
  readonly name: string;
  readonly defaultChannel: string;
  readonly channels: Map<string, ChannelModel>;
  /** By name; without those that channels name but no blob defines. */
  readonly bundles: Map<string, BundleFacts>;
  /** Messages of deprecations: of the package, and of bundles by name. */
  deprecation: string | undefined;
  readonly deprecatedBundles: Map<string, string>;
}

export interface ChannelModel {
  readonly name: string;
  readonly entries: ReadonlyMap<string, ChannelEntry>;
  deprecation: string | undefined;
}
