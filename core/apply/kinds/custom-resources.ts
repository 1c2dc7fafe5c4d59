import type { Discovery, KubeClient } from '../../platform/kube/index.ts';
import { stringAt } from '../fields/json-fields.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import type { GroupKind } from '../objects/group-kind.ts';
import { objectID } from '../objects/object-id.ts';

export interface CustomResourceQuery {
  readonly client: Pick<KubeClient, 'list'>;
  readonly discovery: Pick<Discovery, 'resourceForGroupKind'>;
  /** All namespaces where absent. */
  readonly namespace?: string;
  /** IDs of objects that do not count. */
  readonly except?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** The kind that a CRD defines. */
export function definedKind({ object: { spec } }: Pick<InventoryEntry, 'object'>): GroupKind {
  return { group: stringAt(spec, 'group') ?? '', kind: stringAt(spec, 'names', 'kind') ?? '' };
}

/** Whether there are objects of a kind; one request for names, as short as it can be. */
export async function hasCustomResources(
  { group, kind }: GroupKind,
  { client, discovery, namespace, except = new Set(), signal }: CustomResourceQuery,
): Promise<boolean> {
  const resource = await discovery.resourceForGroupKind(group, kind, signal);
  if (resource === undefined) return false;
  const isOfKind = (id: string): boolean => id.startsWith(`${group}|${kind}|`);
  const limit = [...except].filter(isOfKind).length + 1;
  const query = { namespace, limit, metadataOnly: true, signal };
  const { items } = await client.list(resource, query);
  return items.some(
    ({ metadata }) =>
      !except.has(objectID(resource, { namespace: metadata.namespace, name: metadata.name ?? '' })),
  );
}
