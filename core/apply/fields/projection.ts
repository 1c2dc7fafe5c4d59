import { createHash } from 'node:crypto';
import { type JsonObject, stringifyJson } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  elementTree,
  type FieldTree,
  type IgnoredTree,
  isItem,
  withoutFields,
} from './field-tree.ts';
import {
  fieldManager,
  isFormerEntry,
  isLeaf,
  isOtherEntry,
  isOwnEntry,
  withoutEntryFields,
} from './managed-fields.ts';

export { fieldManager };

/**
 * Digest of what is still ours in a live object. The API server takes a field out of our set of
 * managed fields as soon as anybody else changes its value, so two equal projections mean that
 * every field we set still has the value that the server stored for us, whatever else was added.
 * Where a server keeps no managed fields the whole specification counts. Ignored fields never do.
 */
export function projectionOf(live: KubernetesObject, ignored?: IgnoredTree): string {
  const fields = managedFieldsOf(live);
  if (ignored === undefined) return fields === undefined ? contentDigest(live) : digestOf(fields);
  const { tree } = ignored;
  if (fields !== undefined) return digestOf(ownedWithout(fields, tree, live));
  return contentDigest(withoutFields(live, tree) as KubernetesObject);
}

/** Digest of what people write in an object. */
export function contentDigest(live: KubernetesObject): string {
  const { metadata, status: _, ...content } = live;
  return digestOf({
    ...content,
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
  });
}

/** Our fields of an object as fieldsV1 has them, or undefined where we never applied it. */
export function managedFieldsOf(live: KubernetesObject): unknown {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  return fieldAt(entries.find(isOwnEntry), 'fieldsV1');
}

/**
 * The object with only our own entry left of its managed fields, and of RukPak's and others' that
 * there are any: the rest is most of many objects.
 */
export function withOwnFieldsOnly(live: KubernetesObject): KubernetesObject {
  const entries = listOf(fieldAt(live.metadata, 'managedFields')).flatMap((entry) => {
    if (isOwnEntry(entry)) return [entry];
    return isFormerEntry(entry) || isOtherEntry(entry) ? [withoutEntryFields(entry)] : [];
  });
  const metadata = { ...live.metadata, managedFields: entries };
  return { ...live, metadata };
}

/**
 * The part of a set of managed fields that the tree does not ignore. A list or map with one owner is
 * in the set as a whole, or not at all once anybody changed an ignored field of it: so its value
 * without the ignored fields takes its place.
 */
export function ownedWithout(owned: unknown, tree: FieldTree, live: unknown): JsonObject {
  const elements = new Set([...Object.keys(mapOf(owned)), ...ignoredElements(tree)]);
  const entries = [...elements].flatMap((element): [string, unknown][] => {
    const below = elementTree(tree, element);
    const fields = mapOf(owned)[element];
    if (below === undefined) return [[element, fields]];
    if (below.whole) return [];
    const value = liveBelow(live, element);
    const whole = isLeaf(fields) || (fields === undefined && below.items !== undefined);
    if (whole) return [[element, { value: withoutFields(value, below) }]];
    const kept = ownedWithout(fields, below, value);
    return Object.keys(kept).every((key) => key === '.') ? [] : [[element, kept]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

function ignoredElements({ children, items }: FieldTree): readonly string[] {
  if (items !== undefined) return [];
  return [...children.keys()].filter((key) => key !== '*').map((key) => `f:${key}`);
}

function liveBelow(live: unknown, element: string): unknown {
  if (element.startsWith('f:')) return mapOf(live)[element.slice(2)];
  return listOf(live).find((item) => isItem(item, element));
}

/** SHA-256 of a JSON value in base64url; the order of map keys does not count. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(stringifyJson(sorted(value)))
    .digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  // Built from entries: plain assignment would lose a key named __proto__.
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
