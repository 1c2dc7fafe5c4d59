import type { KubernetesObject } from '../../../api/meta.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import {
  type Discovery,
  gvkOf,
  type KubeClient,
  liveObject,
} from '../../../core/platform/kube/index.ts';

/** How an object comes to be in the cluster. */
export interface Origin {
  /** From the object that was asked for up to the one that the deployment applied, or as far as known. */
  readonly chain: readonly KubernetesObject[];
  /** Name of the deployment; undefined where it is of none. */
  readonly deployment?: string;
  /** Where it is of none: what the last of the chain says of its owner. */
  readonly end?: string;
}

/** Owner references may go round; nothing in Kubernetes is made over more steps than this. */
const longest = 16;

/** Follows owner references up to an object with the labels of a deployment. */
export async function originOf(
  {
    client,
    discovery,
  }: { readonly client: Pick<KubeClient, 'get'>; readonly discovery: Discovery },
  object: KubernetesObject,
  signal: AbortSignal,
): Promise<Origin> {
  const chain = [object];
  for (let last = object; chain.length < longest; ) {
    const deployment = deploymentOf(last);
    if (deployment !== undefined) return { chain, deployment };
    const { ownerReferences = [], namespace } = last.metadata;
    const owner = ownerReferences.find(({ controller }) => controller) ?? ownerReferences[0];
    const path = pathOf(last);
    if (owner === undefined) return { chain, end: `${path} has no owner and no label of one` };
    const resource = await discovery.resourceFor(gvkOf(owner), signal);
    if (resource === undefined) {
      return {
        chain,
        end: `${path} is owned by a ${owner.kind}, which the cluster does not serve`,
      };
    }
    const key = resource.namespaced ? { namespace, name: owner.name } : { name: owner.name };
    const next = await liveObject(client, { resource, key }, signal);
    if (next?.metadata.uid !== owner.uid) {
      return { chain, end: `${path} is owned by ${owner.kind} "${owner.name}", which is gone` };
    }
    last = { ...next, apiVersion: owner.apiVersion, kind: owner.kind };
    chain.push(last);
  }
  return { chain, end: 'its owners have owners without an end' };
}

function deploymentOf({ kind, apiVersion, metadata }: KubernetesObject): string | undefined {
  const { group } = gvkOf({ kind, apiVersion });
  if (kind === bundleDeploymentResource.kind && group === bundleDeploymentResource.group) {
    return metadata.name;
  }
  const { labels = {} } = metadata;
  return labels[label.ownerKind] === bundleDeploymentResource.kind
    ? labels[label.ownerName]
    : undefined;
}

export function pathOf({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}
