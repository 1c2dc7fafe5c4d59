import { goQuote } from '../../../api/go-quote.ts';
import type { CatalogIdentity } from '../../catalogs/index.ts';
import type { Extension } from '../extension.ts';
import type { Catalogs } from './kept-bundle.ts';

/** What to do where an extension has no catalog that could have its package; undefined if it has one. */
export function missingCatalog(
  { request: { profile, packageName }, usesCatalog }: Extension,
  catalogs: Catalogs,
): string | undefined {
  const [kind, users] =
    profile === 'operator' ? ['Catalog', 'Operators'] : ['ClusterCatalog', 'ClusterExtensions'];
  const absent = catalogs.absent();
  const all = [...catalogs.serving(), ...absent].filter((each) => each.kind === kind);
  const used = all.filter(usesCatalog);
  const off = absent.filter(({ state }) => state === 'Unavailable').filter(usesCatalog);
  if (used.length > off.length) return undefined;
  if (off.length > 0) {
    return `${kind} ${names(off)} is switched off: set spec.availabilityMode to Available.`;
  }
  if (all.length > 0) {
    return `spec.source.catalog.selector selects none of ${kind} ${names(all)}: change it, or the labels of one.`;
  }
  return `There is no ${kind}, and ${users} get packages of nothing else: create one that has package ${goQuote(packageName)}.`;
}

function names(catalogs: readonly CatalogIdentity[]): string {
  return catalogs.map(({ name }) => goQuote(name)).join(', ');
}
