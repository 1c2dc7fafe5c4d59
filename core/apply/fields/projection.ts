import type { KubernetesObject } from '../../../api/meta.ts';
import { digestOf } from './digest.ts';
import { fieldManager, isOwnEntry } from './field-manager.ts';
import { withoutFields } from './field-tree.ts';
import { isFormerEntry } from './former-fields.ts';
import type { IgnoredTree } from './ignored-fields.ts';
import { fieldAt, listOf } from './json-fields.ts';
import { isOtherEntry, withoutEntryFields } from './other-managers.ts';
import { ownedWithout } from './owned-without.ts';

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
