import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { Resource } from '../../platform/kube/index.ts';
import { mapOf } from '../fields/json-fields.ts';
import {
  controllerReference,
  type DesiredContext,
  type DesiredObject,
  desiredObject,
  isKept,
} from '../objects/desired.ts';

/**
 * A hook as it is created: marked as its owner's, and as of one run. It is no part of the applied
 * set: unless it is kept, the garbage collector takes it with its deployment.
 */
export function hookObject(
  hook: KubernetesObject,
  resource: Resource,
  context: DesiredContext & { readonly run: string },
): DesiredObject {
  const desired = desiredObject(hook, resource, context);
  const { labels, annotations, ...metadata } = desired.object.metadata;
  const { [label.partOf]: _, ...marks } = mapOf(labels) as Record<string, string>;
  const noted = { ...annotations, [annotation.hookRun]: context.run };
  const owners = isKept(hook) ? {} : { ownerReferences: [controllerReference(context.owner)] };
  return {
    ...desired,
    ignored: undefined,
    object: {
      ...desired.object,
      metadata: { ...metadata, labels: marks, annotations: noted, ...owners },
    },
  };
}
