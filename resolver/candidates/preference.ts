import type { CatalogReference } from './package-content.ts';

/** Where candidates are looked for. */
export interface Viewpoint {
  /** The catalog of the bundle that needs a candidate; undefined if it comes from none. */
  readonly catalog: Pick<CatalogReference, 'name' | 'namespace'> | undefined;
  /** The namespace that is resolved. */
  readonly namespace: string;
}

/**
 * Compares catalogs by preference: the own one, then by priority (highest first), those of the
 * namespace, by name.
 */
export function compareCatalogs(
  a: CatalogReference,
  b: CatalogReference,
  { catalog, namespace }: Viewpoint,
): number {
  const isOwn = (each: CatalogReference) =>
    each.name === catalog?.name && each.namespace === catalog.namespace;
  return (
    Number(isOwn(b)) - Number(isOwn(a)) ||
    b.priority - a.priority ||
    Number(b.namespace === namespace) - Number(a.namespace === namespace) ||
    compareText(a.name, b.name)
  );
}

/** A channel of one of a catalog's packages. */
export interface ChannelOfPackage {
  readonly packageName: string;
  readonly channel: string;
  readonly isDefaultChannel: boolean;
}

/** Compares channels of one catalog by preference: default channels first, by package, by name. */
export function compareChannels(a: ChannelOfPackage, b: ChannelOfPackage): number {
  return (
    Number(b.isDefaultChannel) - Number(a.isDefaultChannel) ||
    compareText(a.packageName, b.packageName) ||
    compareText(a.channel, b.channel)
  );
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
