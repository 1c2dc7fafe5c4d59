import { apiVersionOf } from '../../../api/gvk.ts';
import { fieldAt, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { type ObjectKey, type Resource } from '../../platform/kube/index.ts';
import type { IgnoredTree } from '../fields/field-tree.ts';
import { isOtherEntry, isOwnEntry, withoutEntryFields } from '../fields/managed-fields.ts';
import { projectionOf, withOwnFieldsOnly } from '../fields/projection.ts';
import { objectID } from '../objects/object-id.ts';
import { labelledOwner } from '../objects/owner-marks.ts';

/** One live object that carries the label of an owner. */
export interface InventoryEntry {
  readonly id: string;
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** The deployment that the labels name. */
  readonly owner: string;
  /** Without the ignored fields of `ignoring`: see `projectionUnder`. */
  projection: string;
  /** Tells it from what it was before the server's store was restored. */
  readonly history?: number | undefined;
  ignoring: string | undefined;
  /** Without foreign managed fields; without its content once `slim` was called. */
  object: KubernetesObject;
  slim: boolean;
  /** We deleted it, and the watch has not said so yet. */
  deleted: boolean;
}

/** The projection of an object without what is ignored in it; of a slim one that was known before. */
export function projectionUnder(entry: InventoryEntry, ignored: IgnoredTree | undefined): string {
  if (entry.ignoring !== ignored?.key && !entry.slim) {
    entry.projection = projectionIn(entry.object, entry.history, ignored);
    entry.ignoring = ignored?.key;
  }
  return entry.projection;
}

/**
 * Fields of ours in an object of another history may have other values than those that we have set:
 * what was recorded of it before never equals what it is since.
 */
function projectionIn(
  object: KubernetesObject,
  history: number | undefined,
  ignored?: IgnoredTree,
): string {
  const projection = projectionOf(object, ignored);
  return history === undefined || history === 0 ? projection : `${projection}@${history}`;
}

/** Drops content that nothing reads once an object is known to be as applied. */
export function slim(entry: InventoryEntry): void {
  const { apiVersion, kind, metadata, spec, status } = entry.object;
  const { managedFields, ...rest } = metadata as typeof metadata & { managedFields?: unknown };
  // Who else sets fields is told when we take one; that we set some tells RukPak's from a stranger's.
  const others = listOf(managedFields).filter(isOtherEntry);
  const own = listOf(managedFields).filter(isOwnEntry).map(withoutEntryFields);
  const kept = others.length === 0 ? rest : { ...rest, managedFields: [...own, ...others] };
  entry.object = { apiVersion, kind, metadata: kept, spec: slimSpec(entry.resource, spec), status };
  entry.slim = true;
}

/** Health rules read the specification of built-in workloads only; of a CRD its name is needed. */
function slimSpec({ group }: Resource, spec: unknown): unknown {
  if (group === '' || group === 'apps' || group === 'batch') return spec;
  return { group: fieldAt(spec, 'group'), names: { kind: fieldAt(spec, 'names', 'kind') } };
}

/** The key of a live object. */
export function keyIn({ namespaced }: Resource, { metadata }: KubernetesObject): ObjectKey {
  const { namespace, name = '' } = metadata;
  return namespaced ? { namespace, name } : { name };
}

/** `history`: how often objects of the kind had gone back in time. */
export function entryOf(
  resource: Resource,
  live: KubernetesObject,
  history: number,
): InventoryEntry {
  const key = keyIn(resource, live);
  const object = withOwnFieldsOnly({
    ...live,
    // Items of a list come without them.
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
  });
  return {
    id: objectID(resource, key),
    resource,
    key,
    owner: labelledOwner(object) ?? '',
    projection: projectionIn(object, history),
    history,
    ignoring: undefined,
    object,
    slim: false,
    deleted: false,
  };
}
