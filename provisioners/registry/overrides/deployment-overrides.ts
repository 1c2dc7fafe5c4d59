import type { JsonObject } from '../../../core/sdk.ts';

/** The fields of an OLM Subscription's spec.config, as spec.config has them; each may be absent. */
export interface DeploymentOverrides {
  readonly env?: readonly JsonObject[];
  readonly envFrom?: readonly JsonObject[];
  readonly volumes?: readonly JsonObject[];
  readonly volumeMounts?: readonly JsonObject[];
  readonly tolerations?: readonly JsonObject[];
  readonly resources?: JsonObject;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
}

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
