import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import type { StrategyDeployment } from '../bundle/cluster-service-version.ts';
import { fieldOf, isList, isMap, itemsOf } from '../bundle/objects.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { NamedItem } from '../deployment-overrides.ts';
import type { Installation } from '../installation.ts';

/** The inputs of a step besides the spec that it changes. */
export interface StepContext {
  readonly deployment: StrategyDeployment;
  readonly bundle: RegistryBundle;
  readonly installation: Installation;
}

/** Adds one thing to the spec of a CSV's deployment; the rest stays as written. Pure. */
export type DeploymentStep = (spec: JsonObject, context: StepContext) => JsonObject;

/**
 * A deployment's spec with another pod spec. Values of a wrong type stay as written, here and
 * below: the API server reports them.
 */
export function withPodSpec(
  spec: JsonObject,
  change: (podSpec: JsonObject) => JsonObject,
): JsonObject {
  return withPart(spec, 'template', (template) => withPart(template, 'spec', change));
}

/** A deployment's spec with each container changed, but not its init containers, as in OLM. */
export function withContainers(
  spec: JsonObject,
  change: (container: JsonObject) => JsonObject,
): JsonObject {
  return withPodSpec(spec, (podSpec) => {
    const { containers } = podSpec;
    if (!isList(containers)) return podSpec;
    return {
      ...podSpec,
      containers: containers.map((each) => (isMap(each) ? change(each) : each)),
    };
  });
}

/** A deployment's spec with other annotations on its pods. */
export function withPodAnnotations(
  spec: JsonObject,
  change: (annotations: JsonObject) => JsonObject,
): JsonObject {
  return withPart(spec, 'template', (template) => {
    const metadata = mapOf(template['metadata']);
    const annotations = change(mapOf(metadata['annotations']));
    return { ...template, metadata: { ...metadata, annotations } };
  });
}

export function mapOf(value: JsonValue | undefined): JsonObject {
  return isMap(value) ? value : {};
}

function withPart(
  whole: JsonObject,
  key: string,
  change: (part: JsonObject) => JsonObject,
): JsonObject {
  const part = whole[key];
  return isMap(part) ? { ...whole, [key]: change(part) } : whole;
}

/**
 * A deployment's spec with these variables in every container: one of the same name is replaced in
 * its place, others are appended. The later of two with one name counts.
 */
export function withEnvironment(spec: JsonObject, variables: readonly NamedItem[]): JsonObject {
  if (variables.length === 0) return spec;
  const added = new Map(variables.map((variable) => [variable.name, variable]));
  return withContainers(spec, (container) => {
    const written = itemsOf(container['env']);
    const names = new Set(written.map((variable) => fieldOf(variable, 'name')));
    const replaced = written.map((variable) => {
      const name = fieldOf(variable, 'name');
      return (typeof name === 'string' ? added.get(name) : undefined) ?? variable;
    });
    const appended = [...added.values()].filter(({ name }) => !names.has(name));
    return { ...container, env: [...replaced, ...appended] };
  });
}
