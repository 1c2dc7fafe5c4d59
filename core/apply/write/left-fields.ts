import type { JsonObject } from '../../../api/json.ts';
import { isMap, listOf, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { childTree, type FieldTree, isItem } from '../fields/field-tree.ts';
import { isLeaf } from '../fields/managed-fields.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import { primaryResourceKeys } from '../objects/desired.ts';
import { applySetKey } from '../objects/owner-marks.ts';

const ownLabels: readonly string[] = [label.ownerKind, label.ownerName, applySetKey.partOf];
const ownAnnotations: readonly string[] = [annotation.trackingID, ...primaryResourceKeys];

/**
 * The content to send for an existing object, so that server-side apply neither sets nor removes
 * the ignored fields: with their live value where core still manages them, without those that
 * others manage. The object's identity and its owner's marks cannot be ignored.
 */
export function withLeftFields(
  desired: KubernetesObject,
  live: KubernetesObject,
  tree: FieldTree,
): KubernetesObject {
  // The API server drops an empty map of labels or annotations; that must not count as a
  // difference.
  const { labels = {}, annotations = {} } = live.metadata;
  const found = { ...live, metadata: { ...live.metadata, labels, annotations } };
  const owned = mapOf(managedFieldsOf(live));
  // An empty set at the root means no fields; an empty part of a set means a whole field.
  const place = { live: found, owned: isLeaf(owned) ? undefined : owned, tree };
  const sent = mapOf(merged(desired, place));
  return withIdentity(desired, sent);
}

function withIdentity(desired: KubernetesObject, sent: JsonObject): KubernetesObject {
  const { name, namespace, labels, annotations } = desired.metadata;
  const { ownerReferences: _, ...metadata } = mapOf(sent['metadata']);
  const marks = { ...mapOf(metadata['annotations']), ...only(annotations, ownAnnotations) };
  return {
    ...sent,
    apiVersion: desired.apiVersion,
    kind: desired.kind,
    metadata: {
      ...metadata,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...mapOf(metadata['labels']), ...only(labels, ownLabels) },
      ...(Object.keys(marks).length === 0 ? {} : { annotations: marks }),
    } as KubernetesObject['metadata'],
  };
}

function only(map: unknown, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(mapOf(map)).filter(([key]) => keys.includes(key)));
}

/**
 * One place of an object: its live value, core's fields of it in fieldsV1, and the ignored tree.
 */
interface Place {
  readonly live: unknown;
  /** Undefined when core manages nothing of it; an empty map when core manages all of it. */
  readonly owned: unknown;
  readonly tree: FieldTree | undefined;
}

/** The value to send; undefined to omit the place. */
function merged(desired: unknown, place: Place): unknown {
  const { live, owned, tree } = place;
  if (tree === undefined) return desired;
  if (tree.whole) return owned === undefined ? undefined : ownedPart(live, owned);
  // The parent of the field does not exist yet, so this request creates the field.
  if (live === undefined) return desired;
  if (Array.isArray(desired)) {
    return desired.map((item, index) => mergedItem(item, index, place));
  }
  if (desired !== undefined && !isMap(desired)) return desired;
  return mergedMap(desired, place);
}

function mergedMap(desired: JsonObject | undefined, { live, owned, tree }: Place): unknown {
  const elements = Object.keys(mapOf(owned)).filter((element) => element.startsWith('f:'));
  const left = elements.map((element) => element.slice(2));
  const keys = new Set([...Object.keys(desired ?? {}), ...left]);
  const entries = [...keys].flatMap((key) => {
    const below = childTree(tree, key);
    if (desired?.[key] === undefined && below === undefined) return [];
    const value = merged(desired?.[key], {
      live: isMap(live) ? live[key] : undefined,
      owned: isLeaf(owned) ? owned : mapOf(owned)[`f:${key}`],
      tree: below,
    });
    return value === undefined ? [] : [[key, value] as const];
  });
  return entries.length === 0 && desired === undefined ? undefined : Object.fromEntries(entries);
}

function mergedItem(desired: unknown, index: number, { live, owned, tree }: Place): unknown {
  const below = childTree(tree, String(index));
  const element = Object.keys(mapOf(owned)).find((each) => isItem(desired, each));
  if (element !== undefined) {
    const found = listOf(live).find((item) => isItem(item, element));
    return merged(desired, { live: found, owned: mapOf(owned)[element], tree: below }) ?? desired;
  }
  // An atomic list has one manager and is sent as a whole, with live values at ignored places.
  const atomic = owned === undefined || isLeaf(owned);
  const found = atomic ? listOf(live)[index] : undefined;
  return merged(desired, { live: found, owned: {}, tree: below }) ?? desired;
}

/** The part of a live value that core manages. */
function ownedPart(live: unknown, owned: unknown): unknown {
  if (isLeaf(owned) || live === undefined) return live;
  const elements = Object.keys(mapOf(owned)).filter((element) => element !== '.');
  if (Array.isArray(live)) {
    return live.flatMap((item) => {
      const element = elements.find((each) => isItem(item, each));
      return element === undefined ? [] : [ownedPart(item, mapOf(owned)[element])];
    });
  }
  if (!isMap(live)) return live;
  const entries = elements.flatMap((element) => {
    const key = element.slice(2);
    return Object.hasOwn(live, key) ? [[key, ownedPart(live[key], mapOf(owned)[element])]] : [];
  });
  return Object.fromEntries(entries);
}
