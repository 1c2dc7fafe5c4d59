import type { ObjectMeta } from '../../meta.ts';

/**
 * The value that core recorded in an annotation of a BundleDeployment, for a restore without
 * status. It starts with the deployment's name, so that a copy of the manifest under another name
 * has no such record.
 */
export function notedValue(
  { name = '', annotations }: ObjectMeta,
  key: string,
): string | undefined {
  const prefix = withNote(name, '');
  const value = annotations?.[key];
  return value?.startsWith(prefix) === true ? value.slice(prefix.length) || undefined : undefined;
}

/** The annotation's value from which `notedValue` reads `value`. */
export function withNote(name: string, value: string): string {
  return `${name}:${value}`;
}
