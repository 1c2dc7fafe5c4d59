import type { ServedCatalog } from '../../../catalog/serve/index.ts';
import type { AbsentCatalog, CatalogIdentity } from '../catalog-contents.ts';
import type { CatalogContent } from '../content/catalog-content.ts';
import type { StoredState } from '../content/content-store.ts';

/** Content that is served. */
export interface Serving {
  readonly catalog: ServedCatalog<CatalogContent>;
  readonly content: CatalogContent;
  readonly state: StoredState;
}

/** A catalog of the cluster. */
export interface Entry {
  identity: CatalogIdentity;
  serving: Serving | undefined;
  /** The content that resolutions need; undefined for any. */
  named: string | undefined;
  /** If resolutions have no content. */
  absence: AbsentCatalog['state'];
  problem: string | undefined;
  /** Ends the wait for the content that resolutions need. */
  waiting: AbortController;
}

/** No packages. */
export const none: ReadonlySet<string> = new Set();

/** What resolutions have of a catalog. */
export function offered({ serving, named }: Entry): Serving | undefined {
  return named === undefined || serving?.state.resolvedRef === named ? serving : undefined;
}

/** Names of the packages in content. */
export function packagesOf(serving: Serving | undefined): ReadonlySet<string> {
  return serving?.content.records.packages ?? none;
}

/** Orders catalogs by name. */
export function compareNames(a: CatalogIdentity, b: CatalogIdentity): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.kind < b.kind ? -1 : 1;
}
