import type { JsonObject } from '../../../core/sdk.ts';
import type { DeploymentStep } from '../pod-template/deployment-step.ts';
import { withEnvironment } from '../pod-template/environment.ts';
import {
  isMap,
  withContainers,
  withPodSpec,
  withTemplate,
} from '../pod-template/template-parts.ts';
import { withAffinity } from './affinity.ts';
import type { DeploymentOverrides } from './deployment-overrides.ts';
import { withNamedItems } from './named-items.ts';
import { withUnequalItems } from './unequal-items.ts';

/** The spec with one override, which is there. */
type Override<Name extends keyof DeploymentOverrides> = (
  spec: JsonObject,
  value: NonNullable<DeploymentOverrides[Name]>,
) => JsonObject;

/** A step that does nothing where spec.config does not have the field. */
function override<Name extends keyof DeploymentOverrides>(
  name: Name,
  apply: Override<Name>,
): DeploymentStep {
  return (spec, { installation }) => {
    const value = installation.overrides[name];
    return value === undefined ? spec : apply(spec, value);
  };
}

/** What spec.config changes in the operator's pods, by OLM's rules and in its order. */
export const overrideSteps: readonly DeploymentStep[] = [
  override('env', withEnvironment),
  override('envFrom', (spec, sources) =>
    withContainers(spec, (container) => ({
      ...container,
      envFrom: withUnequalItems(container['envFrom'], sources),
    })),
  ),
  override('volumes', (spec, volumes) =>
    withPodSpec(spec, (pod) => ({ ...pod, volumes: withNamedItems(pod['volumes'], volumes) })),
  ),
  override('volumeMounts', (spec, mounts) =>
    withContainers(spec, (container) => ({
      ...container,
      volumeMounts: withNamedItems(container['volumeMounts'], mounts),
    })),
  ),
  override('tolerations', (spec, tolerations) =>
    withPodSpec(spec, (pod) => ({
      ...pod,
      tolerations: withUnequalItems(pod['tolerations'], tolerations),
    })),
  ),
  override('resources', (spec, resources) =>
    withContainers(spec, (container) => ({ ...container, resources })),
  ),
  override('nodeSelector', (spec, nodeSelector) =>
    withPodSpec(spec, (pod) => ({ ...pod, nodeSelector })),
  ),
  override('affinity', (spec, affinity) => withPodSpec(spec, (pod) => withAffinity(pod, affinity))),
  // What the bundle says itself wins, for annotations alone.
  override('annotations', (spec, added) =>
    withTemplate(spec, (template) => {
      const metadata = isMap(template['metadata']) ? template['metadata'] : {};
      const written = isMap(metadata['annotations']) ? metadata['annotations'] : {};
      return { ...template, metadata: { ...metadata, annotations: { ...added, ...written } } };
    }),
  ),
];
