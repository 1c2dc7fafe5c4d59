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
 * Digest of the fields that core owns in a live object. The API server removes a field from core's
 * managed fields when anybody else changes its value, so two equal projections mean that every
 * field core set still has the value that the server stored, no matter what others added. For a
 * server without managed fields the whole specification counts. Ignored fields never count.
 */
export function projectionOf(live: KubernetesObject, ignored?: IgnoredTree): string {
  const fields = managedFieldsOf(live);
  if (ignored === undefined) return fields === undefined ? contentDigest(live) : digestOf(fields);
  const { tree } = ignored;
  if (fields !== undefined) return digestOf(ownedWithout(fields, tree, live));
  return contentDigest(withoutFields(live, tree) as KubernetesObject);
}

/** Digest of an object's content, labels and annotations, without its status. */
export function contentDigest(live: KubernetesObject): string {
  const { metadata, status: _, ...content } = live;
  return digestOf({
    ...content,
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
  });
}

/** Core's fields of an object in fieldsV1, or undefined when core never applied it. */
export function managedFieldsOf(live: KubernetesObject): unknown {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  return fieldAt(entries.find(isOwnEntry), 'fieldsV1');
}

/**
 * The object with core's own entry of managedFields complete, and RukPak's and other managers'
 * entries without their fields, which are most of the size of many objects.
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
 * The part of a set of managed fields that the tree does not ignore. An atomic list or map is in
 * the set as a whole, or missing once anybody changed an ignored field of it: so its value without
 * the ignored fields takes its place.
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
