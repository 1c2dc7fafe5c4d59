import { type Item, identityOf, metadataOf, remember } from './item.ts';
import type { Value } from './value.ts';

/** Puts `namePrefix` before and `nameSuffix` behind all names that may change. */
export function addPrefixAndSuffix(items: readonly Item[], kustomization: Value): void {
  const prefix = kustomization.get('namePrefix').optionalText() ?? '';
  const suffix = kustomization.get('nameSuffix').optionalText() ?? '';
  for (const item of items.filter(mayBeRenamed)) {
    if (prefix !== '') rename(item, (name) => `${prefix}${name}`).prefixes.push(prefix);
    if (suffix !== '') rename(item, (name) => `${name}${suffix}`).suffixes.push(suffix);
  }
}

function rename(item: Item, change: (name: string) => string): Item {
  remember(item);
  const metadata = metadataOf(item);
  metadata['name'] = change(String(metadata['name']));
  return item;
}

function mayBeRenamed(item: Item): boolean {
  const { apiVersion, kind } = item.formerly[0] ?? identityOf(item);
  if (kind === 'APIService') return !apiVersion.startsWith('apiregistration.k8s.io/');
  return kind !== 'CustomResourceDefinition' && kind !== 'Namespace';
}
