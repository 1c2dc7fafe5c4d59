import type { InputReference, JsonObject } from '../../../core/sdk.ts';

/** spec.config of a BundleDeployment of the class. */
export interface HelmConfig {
  /** Over the chart's own and those of `valuesFrom`: text of YAML, as in v0.16, or an object. */
  readonly values?: string | JsonObject;
  /** Over the chart's own, in order; later ones win. */
  readonly valuesFrom: readonly InputReference[];
  /** `.Release.Namespace`, and where objects without a namespace go; the system namespace if absent. */
  readonly releaseNamespace?: string;
  readonly crds: CrdPolicy;
  readonly lookup: LookupPolicy;
}

/** What becomes of a chart's crds/; none of these ever deletes one. */
export type CrdPolicy = (typeof crdPolicies)[number];

/**
 * `Upgrade` as far as the crdvalidator allows it, `Replace` whatever custom resources there are;
 * `Skip` leaves them to somebody else.
 */
export const crdPolicies = ['Upgrade', 'Replace', 'Skip'] as const;

/** What a template that asks for objects of the cluster gets; none is ever looked up. */
export type LookupPolicy = (typeof lookupPolicies)[number];

/** `Refuse` fails the rendering; `Empty` is Helm's own answer without a cluster: nothing found. */
export const lookupPolicies = ['Refuse', 'Empty'] as const;
