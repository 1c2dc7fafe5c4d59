import { isMap, listOf, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { scalarText } from '../bundle-content.ts';

const zeroTime = '0001-01-01 00:00:00 +0000 UTC';

/** Kind and metadata as opm prints them after an error: Go's text of its structs. */
export function metadataText({ kind, apiVersion, metadata }: KubernetesObject): string {
  const fields = mapOf(metadata);
  const texts = ['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'].map(
    (field) => scalarText(fields[field]),
  );
  const maps = ['labels', 'annotations'].map((field) => mapText(fields[field]));
  const finalizers = listOf(fields['finalizers']).map(scalarText).join(' ');
  const generation = scalarText(fields['generation']) || '0';
  const values = [
    ...texts,
    generation,
    zeroTime,
    '<nil>',
    '<nil>',
    ...maps,
    '[]',
    `[${finalizers}]`,
  ];
  return `&{{${kind} ${apiVersion}} {${values.join(' ')} []}}`;
}

/** Go prints a map in the order of its keys. */
function mapText(value: unknown): string {
  if (!isMap(value)) return 'map[]';
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, each]) => `${key}:${scalarText(each)}`).join(' ')}]`;
}
