import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { HookRequest } from '../../contracts/hooks.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import { isDataKind } from '../inventory/user-data.ts';
import {
  controllerReference,
  type DesiredContext,
  type DesiredObject,
  desiredObject,
  isKept,
} from '../objects/desired.ts';
import type { Ownership } from '../ownership/ownership.ts';
import { OwnershipRefusal } from '../ownership/ownership-check.ts';
import { ownershipMessage } from '../ownership/ownership-message.ts';
import type { HookEvent } from './hook.ts';

/**
 * A hook's object with the marks of its owner and of one run. It is not in the applied set. The
 * garbage collector deletes it with its deployment, unless it is kept, or may hold data: the
 * collector looks into no Namespace or CRD, and knows no deletion policy.
 */
export function hookObject(
  hook: KubernetesObject,
  resource: Resource,
  context: DesiredContext & Pick<HookRequest, 'run' | 'bundle'>,
): DesiredObject {
  const desired = desiredObject(hook, resource, context);
  const { labels, annotations, ...metadata } = desired.object.metadata;
  const { [label.partOf]: _, ...marks } = mapOf(labels) as Record<string, string>;
  const { run, bundle } = context;
  const version = bundle === undefined ? {} : { [annotation.hookBundle]: bundle };
  const noted = { ...annotations, [annotation.hookRun]: run, ...version };
  const isCollected = !isKept(hook) && (!isDataKind(resource) || isLast(run));
  const owners = isCollected ? { ownerReferences: [controllerReference(context.owner)] } : {};
  return {
    ...desired,
    ignored: undefined,
    object: {
      ...desired.object,
      metadata: { ...metadata, labels: marks, annotations: noted, ...owners },
    },
  };
}

/** True for a hook that runs when core has removed everything else. */
function isLast(run: string): boolean {
  const last: HookEvent = 'post-delete';
  return run.split(' ')[0] === last;
}

/** The refusal when a foreign object has the hook's name: the same text as for any other object. */
export function hookRefusal(
  owner: BundleDeployment,
  what: { readonly kind: string; readonly key: ObjectKey },
  ownership: Ownership & { readonly verdict: 'refused' | 'transferred' },
): OwnershipRefusal {
  const isInstall = (owner.status?.activeBundle ?? '') === '';
  const refused =
    ownership.verdict === 'transferred'
      ? { ...what, because: `belongs to BundleDeployment "${ownership.to}"` }
      : { ...what, ...ownership };
  const { installFailed, errorGettingReleaseState } = bundleDeploymentReason;
  return new OwnershipRefusal(
    ownershipMessage([refused], owner, isInstall ? 'install' : 'update'),
    { reason: isInstall ? installFailed : errorGettingReleaseState },
  );
}
