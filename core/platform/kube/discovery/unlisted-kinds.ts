import { fieldAt, listOf, stringAt } from '../../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { unlessNotFound } from '../api-error.ts';
import { type KubeClient, liveObject } from '../kube-client.ts';
import { apiServiceResource, definitionResource, type Resource } from '../resource.ts';
import type { DiscoveredGroups } from './discovered-groups.ts';

/** Label of APIServices that the API server creates itself, for built-in groups and CRDs. */
const automanaged = 'kube-aggregator.kubernetes.io/automanaged';

/**
 * Names of all CRDs or APIServices, without APIServices that the API server created itself; none
 * where it has no such kind.
 */
export async function definitionNames(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  const options = { metadataOnly: true, ...(signal !== undefined && { signal }) };
  const { items = [] } = (await unlessNotFound(client.list(resource, options))) ?? {};
  const own = items.filter(({ metadata }) => metadata.labels?.[automanaged] === undefined);
  return new Set(own.map(({ metadata }) => metadata.name ?? ''));
}

/**
 * The CRD of a namespaced kind, or the APIService, that the discovered groups lack: right after its
 * start the API server omits them, and so it does with a CRD that serves no version. Objects of it
 * may be in any namespace. Undefined when the groups are complete.
 */
export async function unlistedDefinition(
  groups: DiscoveredGroups,
  client: Pick<KubeClient, 'list' | 'get'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const listed = new Set(groups.resources.map(({ group, plural }) => `${plural}.${group}`));
  for (const name of await definitionNames(client, definitionResource, signal)) {
    if (listed.has(name)) continue;
    const target = { resource: definitionResource, key: { name } };
    const definition = await liveObject(client, target, signal);
    if (definition !== undefined && mayHaveObjects(definition)) {
      return `CustomResourceDefinition ${name}`;
    }
  }
  const versions = new Set(groups.apiVersions);
  for (const name of await definitionNames(client, apiServiceResource, signal)) {
    const dot = name.indexOf('.');
    const apiVersion = `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
    if (!versions.has(apiVersion)) return `APIService ${name}`;
  }
  return undefined;
}

/** Whether objects can be in a namespace. */
function mayHaveObjects(definition: KubernetesObject): boolean {
  return stringAt(definition['spec'], 'scope') !== 'Cluster' && isEstablished(definition);
}

/** Whether the API server has accepted a CRD: before that it accepts no objects of the kind. */
export function isEstablished({
  status,
}: {
  readonly metadata: object;
  readonly status?: unknown;
}): boolean {
  return listOf(fieldAt(status, 'conditions')).some(
    (each) => stringAt(each, 'type') === 'Established' && stringAt(each, 'status') === 'True',
  );
}
