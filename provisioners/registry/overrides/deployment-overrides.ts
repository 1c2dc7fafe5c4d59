import type { JsonObject } from '../../../core/sdk.ts';

/** The fields of an OLM Subscription's spec.config, as spec.config has them; each may be absent. */
export interface DeploymentOverrides {
  readonly env?: readonly NamedItem[];
  readonly envFrom?: readonly JsonObject[];
  readonly volumes?: readonly NamedItem[];
  readonly volumeMounts?: readonly NamedItem[];
  readonly tolerations?: readonly JsonObject[];
  readonly resources?: JsonObject;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An item of a list that is told from others by its name. */
export type NamedItem = JsonObject & { readonly name: string };

/** Names of its fields, as spec.config has them. */
export const overrideNames = [
  'env',
  'envFrom',
  'volumes',
  'volumeMounts',
  'tolerations',
  'resources',
  'nodeSelector',
  'affinity',
  'annotations',
] as const satisfies readonly (keyof DeploymentOverrides)[];
