import type { KubernetesObject } from '../../api/meta.ts';

/**
 * Deletions of objects whose class this process does not serve. This process handles one that no
 * other manager has handled for a while: otherwise its finalizer would stay for ever after the
 * class is removed.
 */
export interface UnservedDeletions {
  /** Milliseconds until this process may handle the deletion; 0 or less from then on. */
  remaining(object: KubernetesObject): number;
  /** Starts counting again for an object of that name. */
  forget(name: string): void;
}
