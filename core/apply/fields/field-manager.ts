import { isMap } from './json-fields.ts';

/** The field manager of everything that the engine applies. */
export const fieldManager = 'rukpak-core';

/** True for the entry of managedFields that says what core applies. */
export function isOwnEntry(entry: unknown): boolean {
  return (
    isMap(entry) &&
    entry['manager'] === fieldManager &&
    entry['operation'] === 'Apply' &&
    (entry['subresource'] ?? '') === ''
  );
}
