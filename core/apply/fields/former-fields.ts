import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, isMap, listOf } from './json-fields.ts';

/**
 * The names under which RukPak v0.16 wrote objects: Helm's client signs with the name of its program,
 * and `rukpakctl alpha bootstrap` wrote what `core` took over.
 */
const formerManagers: ReadonlySet<unknown> = new Set(['core', 'helm', 'rukpakctl']);

/** True for an entry of managedFields that says what RukPak wrote. */
export function isFormerEntry(entry: unknown): boolean {
  return (
    isMap(entry) &&
    formerManagers.has(entry['manager']) &&
    entry['operation'] === 'Update' &&
    (entry['subresource'] ?? '') === ''
  );
}

/** True where fields of the object still belong to RukPak: applying would not take one out. */
export function hasFormerFields(live: KubernetesObject): boolean {
  return listOf(fieldAt(live.metadata, 'managedFields')).some(isFormerEntry);
}
