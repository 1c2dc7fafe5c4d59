import type { RequestedCatalog, ServedCatalog } from '../../../catalog/serve/index.ts';
import type { Clock } from '../../../core/controller.ts';
import type { CatalogReference } from '../../../resolver/candidates/index.ts';
import type {
  AbsentCatalog,
  CatalogIdentity,
  FoundPackage,
  ServingCatalog,
} from '../catalog-contents.ts';
import type { CatalogContent } from '../content/catalog-content.ts';
import type { CatalogKey, StoredState } from '../content/content-store.ts';

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
  /** The content that is about to be served, once the status names it. */
  coming: string | undefined;
  /** If resolutions have no content. */
  absence: AbsentCatalog['state'];
  problem: string | undefined;
  /** Ends the wait for the content that resolutions need. */
  waiting: AbortController;
}

/** Of a catalog without content. */
export function newEntry(identity: CatalogIdentity): Entry {
  const nothing = { serving: undefined, named: undefined, coming: undefined } as const;
  const waiting = new AbortController();
  return { identity, ...nothing, absence: 'Pending', problem: undefined, waiting };
}

/** No packages. */
export const none: ReadonlySet<string> = new Set();

/** What resolutions have of a catalog: the former content until the one that comes is there. */
export function offered({ serving, named, coming }: Entry): Serving | undefined {
  if (named === undefined || named === coming) return serving;
  return serving?.state.resolvedRef === named ? serving : undefined;
}

/** Names of the packages in content. */
export function packagesOf(serving: Serving | undefined): ReadonlySet<string> {
  return serving?.content.records.packages ?? none;
}

/** A package of content that stays open meanwhile; undefined if it has none of the name. */
export async function packageIn(
  { catalog: served }: Serving,
  catalog: ServingCatalog,
  name: string,
): Promise<FoundPackage | undefined> {
  await using borrowed = served.borrow();
  const result = await borrowed.content.records.findPackage(name, referenceOf(catalog));
  return result === undefined ? undefined : { catalog, ...result };
}

/** What resolutions have, by priority and name. */
export function servingOf(entries: readonly Entry[]): readonly ServingCatalog[] {
  return entries
    .flatMap((entry) => {
      const { identity, problem } = entry;
      const resolvedRef = offered(entry)?.state.resolvedRef;
      return resolvedRef === undefined ? [] : [{ ...identity, resolvedRef, problem }];
    })
    .toSorted((a, b) => b.priority - a.priority || compareNames(a, b));
}

/** The catalogs of which resolutions have nothing, by name. */
export function absentOf(entries: readonly Entry[]): readonly AbsentCatalog[] {
  return entries
    .filter((entry) => offered(entry) === undefined)
    .map(({ identity, absence, problem = '' }) => ({ ...identity, state: absence, problem }))
    .toSorted(compareNames);
}

/** Milliseconds that resolutions wait for content: one slow registry must not stop others longer. */
const longestPending = 120_000;

/** Waits as long as content may be pending, and returns what to tell then; undefined if it came. */
export async function pendingTooLong(
  { waiting }: Entry,
  clock: Pick<Clock, 'sleep'>,
): Promise<string | undefined> {
  try {
    await clock.sleep(longestPending, waiting.signal);
    return `its content has not been there for ${longestPending / 1000} s`;
  } catch {
    return undefined;
  }
}

function compareNames(a: CatalogIdentity, b: CatalogIdentity): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.kind < b.kind ? -1 : 1;
}

/** How resolutions refer to a catalog. */
export function referenceOf({ name, priority }: CatalogIdentity): CatalogReference {
  return { name, namespace: '', priority };
}

/**
 * The catalogs that a path may name, the first that exists. The paths of a Catalog and a
 * ClusterCatalog differ, so that both may have the same name; each answers at the other's path if the
 * other does not exist.
 */
export function keysOf({ catalog: name, endpoint }: RequestedCatalog): readonly CatalogKey[] {
  const kinds = ['ClusterCatalog', 'Catalog'] as const;
  return (endpoint === 'all.json' ? kinds.toReversed() : kinds).map((kind) => ({ kind, name }));
}

/** Identifies a catalog in a map. */
export function keyOf({ kind, name }: CatalogKey): string {
  return `${kind}/${name}`;
}
