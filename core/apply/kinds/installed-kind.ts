import type { KubernetesObject } from '../../../api/meta.ts';
import {
  apiServiceResource,
  definitionResource,
  type KubeClient,
  listAll,
  liveObject,
} from '../../platform/kube/index.ts';
import { fieldAt, stringAt } from '../fields/json-fields.ts';
import type { GroupKind } from '../objects/group-kind.ts';

/**
 * Whether the cluster has a kind, served or not: a CustomResourceDefinition of it, or an APIService
 * of its group that another server answers for, which alone knows its kinds.
 */
export async function isInstalledKind(
  kind: GroupKind,
  client: Pick<KubeClient, 'list' | 'get'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind.group === '') return false;
  return (await isDefined(kind, client, signal)) || (await isAggregated(kind, client, signal));
}

/** Schemas are large, so only CRDs of the group are read whole: their names end with it. */
async function isDefined(
  { group, kind }: GroupKind,
  client: Pick<KubeClient, 'list' | 'get'>,
  signal: AbortSignal,
): Promise<boolean> {
  const options = { metadataOnly: true, signal, transform: nameOf };
  const { items } = await listAll(client, definitionResource, options);
  for (const name of items.filter((item) => item.slice(item.indexOf('.') + 1) === group)) {
    const target = { resource: definitionResource, key: { name } };
    const definition = await liveObject(client, target, signal);
    if (stringAt(definition?.['spec'], 'names', 'kind') === kind) return true;
  }
  return false;
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}

/** APIServices without a service are the API server's own: it tells all kinds of their groups. */
async function isAggregated(
  { group }: GroupKind,
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<boolean> {
  const transform = ({ spec }: KubernetesObject): boolean =>
    stringAt(spec, 'group') === group && stringAt(fieldAt(spec, 'service'), 'name') !== undefined;
  const { items } = await listAll(client, apiServiceResource, { signal, transform });
  return items.includes(true);
}
