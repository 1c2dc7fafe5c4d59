import type { Property } from '../candidates/index.ts';
import { textOf } from './go-json.ts';
import { decodedOrNot, type GroupVersionKind, gvk, packageProperty } from './predicates.ts';

/** The APIs that a bundle provides, by its properties and in their order, duplicates included. */
export function providedApis(properties: readonly Property[]): readonly GroupVersionKind[] {
  return properties.flatMap(({ type, value }) => {
    const decoded = type === gvk.type ? decodedOrNot(value, gvk.struct) : undefined;
    if (decoded === undefined) return [];
    const text = (field: string) => textOf(decoded, field);
    return [{ group: text('group'), version: text('version'), kind: text('kind') }];
  });
}

/** The packages that a bundle is of, by its properties and in their order, duplicates included. */
export function packageNames(properties: readonly Property[]): readonly string[] {
  return properties.flatMap(({ type, value }) => {
    if (type !== packageProperty.type) return [];
    const decoded = decodedOrNot(value, packageProperty.struct);
    return decoded === undefined ? [] : [textOf(decoded, 'packageName')];
  });
}

/** The version in the value of a property `olm.package`; empty if it cannot be read. */
export function packageVersion(value: unknown): string {
  const decoded = decodedOrNot(value, packageProperty.struct);
  return decoded === undefined ? '' : textOf(decoded, 'version');
}
