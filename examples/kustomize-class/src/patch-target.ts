import { type Item, identityOf } from './item.ts';
import type { Value } from './value.ts';

/** The objects that a patch's `target` selects: by what they were at first, or are now. */
export function selected(items: readonly Item[], target: Value): readonly Item[] {
  target.onlyHas('group', 'version', 'kind', 'name', 'namespace');
  const fits = {
    group: matcher(target.get('group')),
    version: matcher(target.get('version')),
    kind: matcher(target.get('kind')),
    name: matcher(target.get('name')),
    namespace: matcher(target.get('namespace')),
  };
  return items.filter((item) => {
    const now = identityOf(item);
    const first = item.formerly[0] ?? now;
    const [version = '', group = ''] = now.apiVersion.split('/').toReversed();
    return (
      [first, now].some(({ namespace }) => fits.namespace(namespace)) &&
      [first, now].some(({ name }) => fits.name(name)) &&
      fits.group(group) &&
      fits.version(version) &&
      fits.kind(now.kind)
    );
  });
}

// Kustomize takes these for regular expressions; those that mean the same here are enough.
function matcher(value: Value): (text: string) => boolean {
  const text = value.optionalText() ?? '';
  if (text === '') return () => true;
  if (!/^(?:[\w-]|\.\*?|\|)+$/.test(text))
    throw value.refused('may have letters, digits, "-", ".", ".*" and "|" only');
  const pattern = new RegExp(`^(?:${text})$`);
  return (found) => pattern.test(found);
}
