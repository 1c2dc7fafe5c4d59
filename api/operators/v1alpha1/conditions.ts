export { kstatusCondition } from '../../v1alpha1/conditions.ts';

/** Condition types of an Operator. */
export const operatorCondition = {
  resolved: 'Resolved',
  installed: 'Installed',
} as const;

export const operatorReason = {
  success: 'Success',
  resolutionFailed: 'ResolutionFailed',
  resolutionUnknown: 'ResolutionUnknown',
  installationFailed: 'InstallationFailed',
  installationStatusUnknown: 'InstallationStatusUnknown',
} as const;
