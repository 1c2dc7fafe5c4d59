import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { definitionResource, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { objectPath } from '../objects/object-id.ts';
import { isPresentDefinition, type RemovalPlan } from './prune-plan.ts';

const namedVersions = 5;

/**
 * CRDs of the plan that stay while the Service of their conversion webhook goes, each with a
 * sentence. Core does not change such a CRD: with strategy None the next write in another version
 * would lose fields.
 */
export async function lostConversions(
  { orphan, remove }: RemovalPlan,
  { client, signal }: { readonly client: Pick<KubeClient, 'get'>; readonly signal: AbortSignal },
): Promise<ReadonlyMap<InventoryEntry, string>> {
  const services = new Set(remove.filter(isService).map(({ key }) => objectPath('Service', key)));
  const lost = new Map<InventoryEntry, string>();
  if (services.size === 0) return lost;
  for (const entry of [...orphan.keys()].filter(isPresentDefinition)) {
    const target = { resource: definitionResource, key: entry.key };
    const definition = await liveObject(client, target, signal);
    if (definition === undefined) continue;
    const service = converterOf(definition);
    const { stored, others } = versionsOf(definition);
    if (service === undefined || !services.has(service) || others.length === 0) continue;
    lost.set(
      entry,
      `${objectPath(entry.resource.kind, entry.key)} stays, and core deletes ${service} of its conversion webhook: ` +
        `the API server refuses requests that convert custom resources between the stored version ${stored} and ${shortList(others, namedVersions)}, and cannot delete Namespaces whose custom resources it must convert. ` +
        'Install the operator again, or set strategy None in spec.conversion of the CRD: a write in another version then loses the fields that this version lacks',
    );
  }
  return lost;
}

function isService({ resource: { group, kind } }: InventoryEntry): boolean {
  return group === '' && kind === 'Service';
}

/** Path of the Service that converts custom resources; undefined without one. */
function converterOf({ spec }: KubernetesObject): string | undefined {
  const conversion = fieldAt(spec, 'conversion');
  const service = fieldAt(conversion, 'webhook', 'clientConfig', 'service');
  const [namespace, name] = [stringAt(service, 'namespace'), stringAt(service, 'name')];
  if (stringAt(conversion, 'strategy') !== 'Webhook' || name === undefined) return undefined;
  return objectPath('Service', { ...(namespace && { namespace }), name });
}

/** The version in which custom resources are written, and others that they are read or stored in. */
function versionsOf({ spec, status }: KubernetesObject): {
  readonly stored: string;
  readonly others: readonly string[];
} {
  const versions = listOf(fieldAt(spec, 'versions'));
  const namesOf = (field: string): readonly string[] =>
    versions
      .filter((each) => fieldAt(each, field) === true)
      .flatMap((each) => stringAt(each, 'name') ?? []);
  const [stored = ''] = namesOf('storage');
  const former = listOf(fieldAt(status, 'storedVersions')).filter(
    (each) => typeof each === 'string',
  );
  const all = new Set([...namesOf('served'), ...former]);
  return { stored, others: [...all].filter((name) => name !== stored) };
}
