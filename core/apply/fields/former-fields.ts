import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { isOwnEntry } from './field-manager.ts';
import { fieldAt, isMap, listOf } from './json-fields.ts';

/**
 * The names under which RukPak v0.16 wrote objects: Helm's client signs with the name of its program,
 * and `rukpakctl alpha bootstrap` wrote what `core` took over.
 */
const formerManagers: ReadonlySet<unknown> = new Set(['core', 'helm', 'rukpakctl']);

/** What RukPak repaired it signed as every Go program does that does not name itself. */
const unnamedProgram = 'Go-http-client';

/** True for an entry of managedFields that RukPak alone can have written. */
export function isFormerEntry(entry: unknown): boolean {
  return isUpdate(entry) && formerManagers.has(entry['manager']);
}

/**
 * The entries of managedFields that say what RukPak wrote. An unnamed program is RukPak where it has
 * the object: as long as core never applied it, or `returned` to RukPak since. Later it is
 * somebody else's program, whose fields are not ours to take.
 */
export function formerEntries(live: KubernetesObject, returned = false): readonly unknown[] {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const isRukpaks = returned || !entries.some(isOwnEntry);
  return entries.filter(
    (entry) =>
      isFormerEntry(entry) || (isRukpaks && isUpdate(entry) && entry['manager'] === unnamedProgram),
  );
}

/** True where fields of the object still belong to RukPak: applying would not take one out. */
export function hasFormerFields(live: KubernetesObject, returned = false): boolean {
  return formerEntries(live, returned).length > 0;
}

function isUpdate(entry: unknown): entry is JsonObject {
  return isMap(entry) && entry['operation'] === 'Update' && (entry['subresource'] ?? '') === '';
}
