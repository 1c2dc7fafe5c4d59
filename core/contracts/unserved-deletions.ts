import type { KubernetesObject } from '../../api/meta.ts';

/**
 * Deletions of objects whose class this process does not serve. One that no manager has ended for a
 * while is this process's to end: the class may be gone for good, and its finalizer would stay for ever.
 */
export interface UnservedDeletions {
  /** Milliseconds until this process may end the deletion; 0 or less from then on. */
  remaining(object: KubernetesObject): number;
  /** Begins anew with an object of that name. */
  forget(name: string): void;
}
