import { TerminalError } from 'rukpak-ts/sdk';
import { type Fields, isFields, placesAt } from './fields.ts';
import { described, type Item, identityOf, metadataOf } from './item.ts';
import { mayReferTo } from './may-refer-to.ts';
import { referencePlaces } from './reference-places.ts';
import { isOfType } from './types.ts';

/** Has objects refer to others by the names that these have got. */
export function updateReferences(items: readonly Item[]): void {
  for (const referrer of items) {
    const { apiVersion, kind } = identityOf(referrer);
    const pool = items.filter((item) => mayReferTo(referrer, item));
    for (const [target, type, path] of referencePlaces) {
      if (!isOfType(apiVersion, kind, type)) continue;
      const types = path === 'roleRef/name' ? [target, roleType(referrer)] : [target];
      const search = { referrer, types };
      for (const { owner, name } of placesAt(referrer.object, path))
        owner[name] = updated(owner[name], pool, search);
    }
  }
}

interface Search {
  readonly referrer: Item;
  /** All of which it must be of, or once have been of. */
  readonly types: readonly string[];
}

/** A name, a map with a name and a namespace, or a list of them. */
function updated(value: unknown, pool: readonly Item[], search: Search): unknown {
  if (Array.isArray(value)) return value.map((each) => updated(each, pool, search));
  if (isFields(value)) return updatedFields(value, pool, search);
  if (typeof value !== 'string') return value;
  const found = find(value, pool, search);
  return found === undefined ? value : metadataOf(found)['name'];
}

function updatedFields(reference: Fields, pool: readonly Item[], search: Search): Fields {
  const { name, namespace } = reference;
  const found = find(String(name), inNamespace(pool, namespace), search);
  if (found === undefined) return reference;
  const metadata = metadataOf(found);
  const { namespace: place = namespace } = metadata;
  return {
    ...reference,
    name: metadata['name'],
    ...(place === undefined ? {} : { namespace: place }),
  };
}

/** What was in a namespace at first; where that is nothing, what is in it now. */
function inNamespace(pool: readonly Item[], namespace: unknown): readonly Item[] {
  if (namespace === undefined) return pool;
  const first = pool.filter(
    (item) => (item.formerly[0] ?? identityOf(item)).namespace === namespace,
  );
  return first.length > 0 ? first : pool.filter((item) => identityOf(item).namespace === namespace);
}

function find(name: string, pool: readonly Item[], { referrer, types }: Search): Item | undefined {
  const [found, second] = pool.filter(
    ({ formerly }) =>
      formerly.some((identity) => identity.name === name) &&
      types.every((type) =>
        formerly.some(({ apiVersion, kind }) => isOfType(apiVersion, kind, type)),
      ),
  );
  if (found === undefined || second === undefined) return found;
  const both = `${described(identityOf(found))} and ${described(identityOf(second))}`;
  throw new TerminalError(
    `${described(identityOf(referrer))} refers to "${name}", which were ${both}: rename one of them`,
  );
}

/** What a binding's `roleRef` says that it refers to. */
function roleType({ object: { roleRef } }: Item): string {
  const { apiGroup, kind } = isFields(roleRef) ? roleRef : {};
  const isWhole = typeof apiGroup === 'string' && typeof kind === 'string';
  return isWhole ? `${apiGroup}/*/${kind}` : '*/*/*';
}
