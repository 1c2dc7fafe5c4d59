import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldManager } from './field-manager.ts';
import { formerEntries, isFormerEntry } from './former-fields.ts';
import { fieldAt, listOf, mapOf, stringAt } from './json-fields.ts';

/** Somebody else who has set fields of an object. */
export interface OtherManager {
  readonly name: string;
  /** RFC 3339; when it last changed what it has. */
  readonly time: string | undefined;
}

/** Those whose fields an apply may take, the latest first. Status is nobody's quarrel. */
export function otherManagers(live: KubernetesObject): readonly OtherManager[] {
  const former = formerEntries(live);
  return listOf(fieldAt(live.metadata, 'managedFields'))
    .filter((entry) => isOtherEntry(entry) && !former.includes(entry))
    .map((entry) => ({
      name: stringAt(entry, 'manager') ?? '',
      time: stringAt(entry, 'time'),
    }))
    .toSorted((a, b) => (b.time ?? '').localeCompare(a.time ?? ''));
}

/** True for an entry of managedFields that says what somebody else has set. */
export function isOtherEntry(entry: unknown): boolean {
  return (
    stringAt(entry, 'manager') !== fieldManager &&
    stringAt(entry, 'subresource') !== 'status' &&
    !isFormerEntry(entry)
  );
}

/** The entry without its fields: they are most of many objects. */
export function withoutEntryFields(entry: unknown): object {
  return { ...mapOf(entry), fieldsV1: undefined };
}
