export { kstatusCondition } from '../../v1alpha1/conditions.ts';

/** Condition types of a Catalog. */
export const catalogCondition = {
  unpacked: 'Unpacked',
  /** Only after a deletion failed. */
  delete: 'Delete',
} as const;

export const catalogReason = {
  unpackPending: 'UnpackPending',
  unpacking: 'Unpacking',
  unpackSuccessful: 'UnpackSuccessful',
  unpackFailed: 'UnpackFailed',
  failedToStore: 'FailedToStore',
  failedToDelete: 'FailedToDelete',
} as const;
