import { gvkOf } from '../../../api/gvk.ts';
import { fieldAt, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { HookRequest } from '../../contracts/hooks.ts';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  awaitResource,
  type Discovery,
  type ObjectKey,
  type Resource,
} from '../../platform/kube/index.ts';
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
import { isCollected } from '../state/applied-record.ts';
import type { HookEvent } from './hook.ts';

/** Milliseconds: the CRD may have been established a moment ago. */
const listingPatience = 2_000;

/** @throws TerminalError when the cluster does not serve the hook's kind. */
export async function hookResource(
  { hook, signal }: HookRequest,
  { discovery, clock }: { readonly discovery: Discovery; readonly clock: Clock },
): Promise<Resource> {
  const waiting = { patience: listingPatience, clock, signal };
  const resource = await awaitResource(discovery, gvkOf(hook), waiting);
  if (resource !== undefined) return resource;
  throw new TerminalError(
    `the cluster does not serve kind ${hook.kind} of ${hook.apiVersion}: install its CRD first`,
  );
}

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
  const isOwned = !isKept(hook) && (!isDataKind(resource) || isLast(run));
  const owners = isOwned ? { ownerReferences: [controllerReference(context.owner)] } : {};
  return {
    ...desired,
    ignored: undefined,
    object: {
      ...withoutExpiry(desired),
      metadata: { ...metadata, labels: marks, annotations: noted, ...owners },
    },
  };
}

/**
 * Once Kubernetes has deleted the Job of a hook, nothing tells that it has run. So core withholds
 * `ttlSecondsAfterFinished` until the status has its end: the hook would run twice where no process
 * of core ran in between.
 */
function withoutExpiry(desired: DesiredObject): KubernetesObject {
  if (!isCollected(desired)) return desired.object;
  const { ttlSecondsAfterFinished: _, ...spec } = mapOf(desired.object['spec']);
  return { ...desired.object, spec };
}

/** Seconds after the end of a Job at which Kubernetes deletes it, if it is said. */
export function expiryOf({ spec }: KubernetesObject): unknown {
  return fieldAt(spec, 'ttlSecondsAfterFinished');
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
