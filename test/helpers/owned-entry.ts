import type { ObjectMeta } from '../../api/meta.ts';
import { Inventory, type InventoryEntry } from '../../core/apply/index.ts';
import { trackingID } from '../../core/apply/objects/owner-marks.ts';
import type { Resource } from '../../core/platform/kube/index.ts';

export interface OwnedObject {
  readonly name: string;
  readonly metadata?: ObjectMeta;
  readonly spec?: object;
}

const clusterScoped: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);

/** A kind as the API server serves it: `ConfigMap`, `Deployment.apps`. */
export function aResource(kindAndGroup: string): Resource {
  const [kind = '', ...group] = kindAndGroup.split('.');
  const plural = `${kind.toLowerCase()}s`;
  const namespaced = !clusterScoped.has(kind);
  return { group: group.join('.'), version: 'v1', kind, plural, namespaced };
}

/** Puts an object of deployment `demo` into an inventory, as its watch would. */
export function anOwnedEntry(
  kindAndGroup: string,
  { name, metadata, spec }: OwnedObject,
  inventory = new Inventory(),
): InventoryEntry {
  const resource = aResource(kindAndGroup);
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
    'applyset.kubernetes.io/part-of': 'applyset-x-v1',
  };
  const key = resource.namespaced ? { namespace: 'n', name } : { name };
  const { annotations, ...rest } = { ...metadata };
  const mark = { 'core.rukpak.io/tracking-id': trackingID('uid-of-demo', resource, key) };
  return inventory.put(resource, {
    apiVersion: resource.group === '' ? 'v1' : `${resource.group}/v1`,
    kind: resource.kind,
    metadata: {
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      ...(resource.namespaced ? { namespace: 'n' } : {}),
      labels,
      annotations: { ...mark, ...annotations },
      ...rest,
    },
    ...(spec === undefined ? {} : { spec }),
  });
}

/** The CRD of a kind in group `example.com`. */
export function anOwnedCRD(kind: string, inventory?: Inventory): InventoryEntry {
  const name = `${kind.toLowerCase()}s.example.com`;
  const spec = { group: 'example.com', names: { kind } };
  const kindAndGroup = 'CustomResourceDefinition.apiextensions.k8s.io';
  return anOwnedEntry(kindAndGroup, { name, spec }, inventory);
}
