import { z } from 'zod';
import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  aggregatedDiscovery,
  type Discovery,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../../core/platform/kube/index.ts';

/** Why an object is in the cluster. */
export interface Origin {
  /** From the object in question up to the one that the deployment applied, or as far as known. */
  readonly chain: readonly KubernetesObject[];
  /** Name of the deployment; undefined when the object belongs to none. */
  readonly deployment?: string;
  /** For an object without a deployment: what the last object of the chain says about its owner. */
  readonly end?: string;
}

/** Maximum length: owner references may form a cycle, and no Kubernetes object needs more steps. */
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
    if (owner === undefined)
      return { chain, end: `${path} has no owner reference and no label ${label.ownerName}` };
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
      return {
        chain,
        end: `${path} is owned by ${owner.kind} "${owner.name}", which no longer exists`,
      };
    }
    last = { ...next, apiVersion: owner.apiVersion, kind: owner.kind };
    chain.push(last);
  }
  return { chain, end: `its owner references lead through more than ${longest} objects` };
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

const listSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().optional() }).optional(),
      versions: z.array(
        z.object({
          version: z.string(),
          resources: z
            .array(
              z.object({
                resource: z.string(),
                singularResource: z.string().optional(),
                shortNames: z.array(z.string()).optional(),
                responseKind: z.object({ kind: z.string() }).optional(),
                scope: z.string().optional(),
              }),
            )
            .optional(),
        }),
      ),
    }),
  ),
});

/**
 * The kind that a user means by `pod`, `deploy`, `Deployment`, `deployments.apps` or
 * `deployments.v1.apps`, as for kubectl: the first match in the API server's order.
 * @throws TerminalError when the cluster serves none.
 */
export async function kindNamed(
  client: Pick<KubeClient, 'request'>,
  word: string,
  signal: AbortSignal,
): Promise<Resource> {
  const [name = '', ...suffix] = word.toLowerCase().split('.');
  const place = suffix.join('.');
  for (const path of ['/api', '/apis']) {
    const answer = await client.request({
      method: 'GET',
      path,
      accept: aggregatedDiscovery,
      signal,
    });
    const found = resourcesIn(answer).find(
      ({ resource, names }) =>
        names.includes(name) &&
        ['', resource.group, `${resource.version}.${resource.group}`].includes(place),
    );
    if (found !== undefined) return found.resource;
  }
  throw new TerminalError(
    `the cluster serves no kind "${word}": kubectl api-resources lists those that it serves`,
  );
}

interface NamedResource {
  readonly resource: Resource;
  readonly names: readonly string[];
}

function resourcesIn(answer: unknown): readonly NamedResource[] {
  return listSchema.parse(answer).items.flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.flatMap(({ resource: plural, singularResource = '', shortNames = [], ...rest }) => {
        const kind = rest.responseKind?.kind;
        if (kind === undefined) return [];
        const group = metadata?.name ?? '';
        const namespaced = rest.scope === 'Namespaced';
        return [
          {
            resource: { group, version, kind, plural, namespaced },
            names: [plural, singularResource, kind.toLowerCase(), ...shortNames],
          },
        ];
      }),
    ),
  );
}
