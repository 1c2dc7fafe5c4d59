import type { ChannelEntry } from '../blobs/index.ts';
import type { BundleFacts } from './bundle-facts.ts';

/** A catalog as the checks see it: packages, their channels, and bundles by the entries of channels. */
export interface PackageModel {
  readonly name: string;
  readonly defaultChannel: string;
  readonly channels: Map<string, ChannelModel>;
  /** By name; those that channels name without a blob of their own are missing. */
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
