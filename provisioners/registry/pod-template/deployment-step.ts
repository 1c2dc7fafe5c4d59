import type { JsonObject } from '../../../core/sdk.ts';
import type { StrategyDeployment } from '../csv/cluster-service-version.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** What a step may look at beside the spec that it changes. */
export interface StepContext {
  readonly deployment: StrategyDeployment;
  readonly bundle: RegistryBundle;
  readonly installation: Installation;
}

/** Adds one thing to the spec of a deployment of the CSV; the rest of it stays as written. Pure. */
export type DeploymentStep = (spec: JsonObject, context: StepContext) => JsonObject;
