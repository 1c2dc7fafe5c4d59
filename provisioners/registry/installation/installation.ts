import type { ClusterFacts } from '../../../core/sdk.ts';
import type { DeploymentOverrides } from '../overrides/deployment-overrides.ts';

/** How one deployment has a bundle installed: what validators and generators see beside the bundle. */
export interface Installation {
  /** Where everything namespaced of the bundle goes. */
  readonly installNamespace: string;
  /** The install namespace comes and goes with the bundle; a given one is the user's. */
  readonly createsNamespace: boolean;
  /** The namespaces that the operator watches, sorted; an empty name alone is all of them. */
  readonly targetNamespaces: readonly string[];
  /** Somebody has written a spec.config; without one everything is as by v0.16. */
  readonly configured: boolean;
  /** What spec.config changes in the operator's pods. */
  readonly overrides: DeploymentOverrides;
  /** Absent where no cluster is known, as when a Bundle is unpacked. */
  readonly cluster?: ClusterFacts;
  /** The deployment has the same content installed: what that needs is awaited no more. */
  readonly installed?: boolean;
}
