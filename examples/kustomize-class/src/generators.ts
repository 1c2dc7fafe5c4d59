import type { Fields } from './fields.ts';
import type { Folder } from './folder.ts';
import { dataOf, encodedDataOf } from './generated-data.ts';
import { anItem, described, type Item, identityOf, isSame } from './item.ts';
import type { Value } from './value.ts';

/** What `configMapGenerator` and `secretGenerator` make, beside the objects that are there. */
export function generated(
  kustomization: Value,
  folder: Folder,
  items: readonly Item[],
): readonly Item[] {
  const global = kustomization.get('generatorOptions');
  checkOptions(global);
  const entries = [
    ...kustomization
      .get('configMapGenerator')
      .list()
      .map((entry) => ['ConfigMap', entry] as const),
    ...kustomization
      .get('secretGenerator')
      .list()
      .map((entry) => ['Secret', entry] as const),
  ];
  return entries.map(([kind, entry]) => {
    const item = generate(kind, entry, { global, folder });
    refuseKnown(item, items, entry);
    return item;
  });
}

interface Surroundings {
  readonly global: Value;
  readonly folder: Folder;
}

function generate(kind: 'ConfigMap' | 'Secret', entry: Value, around: Surroundings): Item {
  const own = kind === 'Secret' ? ['type'] : [];
  entry.onlyHas('name', 'namespace', 'literals', 'files', 'options', ...own);
  const options = entry.get('options');
  checkOptions(options);
  const both = [options, around.global];
  const namespace = entry.get('namespace').optionalText();
  const metadata: Fields = { name: entry.get('name').text() };
  if (namespace !== undefined) metadata['namespace'] = namespace;
  for (const field of ['labels', 'annotations']) {
    const texts = { ...around.global.get(field).texts(), ...options.get(field).texts() };
    if (Object.keys(texts).length > 0) metadata[field] = texts;
  }
  const isSet = (field: string) => both.some((each) => each.get(field).flag());
  const object = {
    apiVersion: 'v1',
    kind,
    metadata,
    ...(kind === 'Secret' ? { type: entry.get('type').optionalText() ?? 'Opaque' } : {}),
    ...(kind === 'Secret' ? encodedDataOf(entry, around.folder) : dataOf(entry, around.folder)),
    ...(isSet('immutable') ? { immutable: true } : {}),
  };
  return anItem(object, !isSet('disableNameSuffixHash'));
}

function checkOptions(options: Value): void {
  if (options.isThere)
    options.onlyHas('labels', 'annotations', 'disableNameSuffixHash', 'immutable');
}

function refuseKnown(item: Item, items: readonly Item[], entry: Value): void {
  const identity = identityOf(item);
  const isKnown = items.some((other) =>
    [...other.formerly, identityOf(other)].some((known) => isSame(known, identity)),
  );
  if (isKnown) throw entry.refused(`makes ${described(identity)}, which is there already`);
}
