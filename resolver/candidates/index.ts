export {
  ChannelError,
  type ChannelLink,
  type ChannelPlace,
  channelOrder,
} from './channel-order.ts';
export { contentSteps } from './content-steps.ts';
export type {
  Bundle,
  CatalogReference,
  Channel,
  ChannelEntry,
  Deprecation,
  PackageContent,
  Property,
} from './package-content.ts';
export {
  type ChannelOfPackage,
  compareCatalogs,
  compareChannels,
  type Viewpoint,
} from './preference.ts';
export { requestedContent } from './requested-content.ts';
export {
  graphSuccessors,
  readSkipRange,
  semverSuccessors,
  type UpgradeEdge,
  type UpgradePolicy,
  type UpgradeStart,
  upgradeEdge,
  whyNoSemverSuccessor,
} from './successors.ts';
export { type LastStep, type UpgradeGraph, upgradePaths } from './upgrade-paths.ts';
export { UpgradeLimitError, upgradeSteps } from './upgrade-steps.ts';
