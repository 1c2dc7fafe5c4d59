import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import { fieldOf, isMap, itemsOf } from '../bundle/objects.ts';
import type { DeploymentOverrides, NamedItem } from '../deployment-overrides.ts';
import {
  type DeploymentStep,
  mapOf,
  withContainers,
  withEnvironment,
  withPodAnnotations,
  withPodSpec,
} from './pod-template.ts';

/** A step that does nothing when spec.config lacks the field. */
function override<Name extends keyof DeploymentOverrides>(
  name: Name,
  apply: (spec: JsonObject, value: NonNullable<DeploymentOverrides[Name]>) => JsonObject,
): DeploymentStep {
  return (spec, { installation }) => {
    const value = installation.overrides[name];
    return value === undefined ? spec : apply(spec, value);
  };
}

/** The changes of the operator's pods by spec.config, by OLM's rules and in its order. */
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
  // Only for annotations do the bundle's own values have priority.
  override('annotations', (spec, added) =>
    withPodAnnotations(spec, (written) => ({ ...added, ...written })),
  ),
];

/**
 * A list with these items: the last one of a name replaces the first item of that name in its
 * place; others are appended.
 */
function withNamedItems(
  list: JsonValue | undefined,
  added: readonly NamedItem[],
): readonly JsonValue[] {
  const written = itemsOf(list);
  const merged = [...written];
  for (const item of added) {
    const place = written.findIndex((each) => fieldOf(each, 'name') === item.name);
    if (place < 0) merged.push(item);
    else merged[place] = item;
  }
  return merged;
}

/** A list with those items appended that are not in it. */
function withUnequalItems(
  list: JsonValue | undefined,
  added: readonly JsonObject[],
): readonly JsonValue[] {
  const written = itemsOf(list);
  const known = written.filter(isMap).map(saidBy);
  return [
    ...written,
    ...added.filter((item) => !known.some((each) => isDeepStrictEqual(each, saidBy(item)))),
  ];
}

/** The API treats an empty text like a missing one. */
function saidBy(item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).filter(([, value]) => value !== null && value !== ''),
  );
}

const affinityKinds = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'] as const;

/**
 * A pod spec with its affinity overridden kind by kind: unnamed kinds stay, an empty one is
 * removed, and an empty affinity removes all three.
 */
function withAffinity(podSpec: JsonObject, added: JsonObject): JsonObject {
  const written = mapOf(podSpec['affinity']);
  const merged = isEmpty(added) ? {} : mergedAffinity(written, added);
  const { affinity: _, ...rest } = podSpec;
  return isEmpty(merged) ? rest : { ...rest, affinity: merged };
}

function mergedAffinity(written: JsonObject, added: JsonObject): JsonObject {
  const replaced = affinityKinds.flatMap((kind) => {
    const value = added[kind] ?? written[kind];
    return isEmpty(value) ? [] : [[kind, value] as const];
  });
  return Object.fromEntries(replaced);
}

/** Absent, or a map of only absent values. */
function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return isMap(value) && Object.values(value).every((each) => each === undefined || each === null);
}
