export { kstatusCondition } from '../../v1alpha1/conditions.ts';

/** Condition types of a ClusterCatalog. */
export const clusterCatalogCondition = {
  serving: 'Serving',
  progressing: 'Progressing',
} as const;

export const clusterCatalogReason = {
  // Of Serving.
  available: 'Available',
  unavailable: 'Unavailable',
  userSpecifiedUnavailable: 'UserSpecifiedUnavailable',
  // Of Progressing.
  succeeded: 'Succeeded',
  retrying: 'Retrying',
  blocked: 'Blocked',
} as const;

/** Condition types of a ClusterExtension. */
export const clusterExtensionCondition = {
  installed: 'Installed',
  progressing: 'Progressing',
  deprecated: 'Deprecated',
  packageDeprecated: 'PackageDeprecated',
  channelDeprecated: 'ChannelDeprecated',
  bundleDeprecated: 'BundleDeprecated',
} as const;

export const clusterExtensionReason = {
  // Of Installed and Progressing.
  succeeded: 'Succeeded',
  failed: 'Failed',
  absent: 'Absent',
  retrying: 'Retrying',
  blocked: 'Blocked',
  rollingOut: 'RollingOut',
  invalidConfiguration: 'InvalidConfiguration',
  progressDeadlineExceeded: 'ProgressDeadlineExceeded',
  // Of the deprecation conditions.
  deprecated: 'Deprecated',
  notDeprecated: 'NotDeprecated',
  deprecationStatusUnknown: 'DeprecationStatusUnknown',
} as const;
