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
  /**
   * Number of rewinds of the kind: distinguishes the object from its state before a restore of the
   * server's store.
   */
  readonly history?: number | undefined;
  ignoring: string | undefined;
  /** Without other managers' fields, and without content after a call of `slim`. */
  object: KubernetesObject;
  slim: boolean;
  /** Core deleted it, and the watch has not reported that yet. */
  deleted: boolean;
}

/** Names an object in any version; a recreated one of the same name has another identity. */
export function identity({
  id,
  object,
}: {
  readonly id: string;
  readonly object: Pick<KubernetesObject, 'metadata'>;
}): string {
  return `${id}|${object.metadata.uid ?? ''}`;
}

/**
 * The projection of an object without its ignored fields; for a slim entry, the projection known
 * before.
 */
export function projectionUnder(entry: InventoryEntry, ignored: IgnoredTree | undefined): string {
  if (entry.ignoring !== ignored?.key && !entry.slim) {
    entry.projection = projectionIn(entry.object, entry.history, ignored);
    entry.ignoring = ignored?.key;
  }
  return entry.projection;
}

/**
 * After a restore of the server's store, core's fields may have other values than core set. So a
 * projection of one history never equals one of another.
 */
function projectionIn(
  object: KubernetesObject,
  history: number | undefined,
  ignored?: IgnoredTree,
): string {
  const projection = projectionOf(object, ignored);
  return history === undefined || history === 0 ? projection : `${projection}@${history}`;
}

/** Drops content that nothing reads while the object is as applied. */
export function slim(entry: InventoryEntry): void {
  const { apiVersion, kind, metadata, spec, status } = entry.object;
  const { managedFields, ...rest } = metadata as typeof metadata & { managedFields?: unknown };
  // Core needs the other managers to report what an apply takes from them, and its own entry to
  // tell RukPak's objects from foreign ones.
  const others = listOf(managedFields).filter(isOtherEntry);
  const own = listOf(managedFields).filter(isOwnEntry).map(withoutEntryFields);
  const kept = others.length === 0 ? rest : { ...rest, managedFields: [...own, ...others] };
  entry.object = { apiVersion, kind, metadata: kept, spec: slimSpec(entry.resource, spec), status };
  entry.slim = true;
}

/**
 * Health rules read the specification of built-in workloads only; for a CRD core needs its names.
 */
function slimSpec({ group }: Resource, spec: unknown): unknown {
  if (group === '' || group === 'apps' || group === 'batch') return spec;
  return { group: fieldAt(spec, 'group'), names: { kind: fieldAt(spec, 'names', 'kind') } };
}

/** The key of a live object. */
export function keyIn({ namespaced }: Resource, { metadata }: KubernetesObject): ObjectKey {
  const { namespace, name = '' } = metadata;
  return namespaced ? { namespace, name } : { name };
}

/** `history`: number of rewinds of the kind so far. */
export function entryOf(
  resource: Resource,
  live: KubernetesObject,
  history: number,
): InventoryEntry {
  const key = keyIn(resource, live);
  const object = withOwnFieldsOnly({
    ...live,
    // Items of a list lack apiVersion and kind.
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
