import { type KubernetesObject, TerminalError } from '../../../core/sdk.ts';
import type { CrdPolicy } from '../config/helm-config.ts';
import type { RenderedChart } from '../engine/index.ts';
import { fileObjects } from './file-objects.ts';
import { hookObjects } from './hook-objects.ts';
import { keptDefinition } from './kept-definition.ts';

export interface ChartObjectsOptions {
  readonly crds: CrdPolicy;
  readonly maxObjects: number;
  /** Of objects that have none; the manager's to say where absent. */
  readonly namespace?: string;
}

/**
 * A rendered chart as objects to apply: what is in crds/ to be kept, hooks with the annotations of
 * ours that say the same as Helm's.
 * @throws TerminalError that names the template.
 */
export function chartObjects(
  { crds, manifests, hooks }: RenderedChart,
  { crds: policy, maxObjects, namespace }: ChartObjectsOptions,
): readonly KubernetesObject[] {
  const objects: KubernetesObject[] = [];
  const add = (added: readonly KubernetesObject[]): void => {
    objects.push(...added);
    if (objects.length > maxObjects) throw tooMany(maxObjects);
  };
  if (policy !== 'Skip') {
    for (const file of crds) {
      add(fileObjects(file, maxObjects).map((object) => keptDefinition(object, policy)));
    }
  }
  for (const file of manifests) add(fileObjects(file, maxObjects));
  for (const hook of hooks) add(hookObjects(hook, maxObjects));
  if (objects.length === 0) throw nothing();
  return namespace === undefined
    ? objects
    : objects.map((object) => inNamespace(object, namespace));
}

/** Cluster-scoped objects lose it again where they are applied. */
function inNamespace(object: KubernetesObject, namespace: string): KubernetesObject {
  const { metadata } = object;
  return metadata.namespace ? object : { ...object, metadata: { ...metadata, namespace } };
}

function tooMany(maxObjects: number): TerminalError {
  return new TerminalError(
    `the chart renders more than ${maxObjects} objects (--max-content-entries): split it`,
  );
}

/** More likely a slip than a wish, and everything that is installed would go. */
function nothing(): TerminalError {
  return new TerminalError(
    'the chart renders no objects with these values: set those that enable something in spec.config.values, or delete the BundleDeployment',
  );
}
