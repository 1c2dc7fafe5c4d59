import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DesiredObject } from './desired.ts';

/** One object that needs a request. */
export interface PlannedObject {
  readonly desired: DesiredObject;
  /** As the inventory knows it; undefined where it is missing, or not marked as anybody's. */
  readonly live: KubernetesObject | undefined;
  /** True where the same was applied before and somebody changed it since. */
  readonly repair: boolean;
  /** True where this process has not applied it: whether anybody changed it cannot be told. */
  readonly unrecorded?: boolean;
}

/** A planned object that may be applied. */
export interface CheckedObject extends PlannedObject {
  /** Controllers to remove from it first, because it was adopted. */
  readonly dropControllers: boolean;
  /** RukPak's fields in it are to become ours first. */
  readonly takeOver: boolean;
  /** Not in the cluster as far as is known: one that is there after all is not to be touched. */
  readonly createOnly: boolean;
  /** The deployment that handed it over, which had it until now. */
  readonly handedOverBy?: BundleDeployment | undefined;
}
