import { type Item, identityOf, metadataOf, remember } from './item.ts';
import type { Value } from './value.ts';

/** Puts `namePrefix` before and `nameSuffix` behind all names that may change. */
export function addPrefixAndSuffix(items: readonly Item[], kustomization: Value): void {
  const prefix = kustomization.get('namePrefix').optionalText() ?? '';
  const suffix = kustomization.get('nameSuffix').optionalText() ?? '';
  if (prefix === '' && suffix === '') return;
  for (const item of items.filter(mayBeRenamed)) {
    remember(item);
    const metadata = metadataOf(item);
    metadata['name'] = `${prefix}${String(metadata['name'])}${suffix}`;
  }
}

function mayBeRenamed(item: Item): boolean {
  const { apiVersion, kind } = item.formerly[0] ?? identityOf(item);
  if (kind === 'APIService') return !apiVersion.startsWith('apiregistration.k8s.io/');
  return kind !== 'CustomResourceDefinition' && kind !== 'Namespace';
}
