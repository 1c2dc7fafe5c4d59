import { TerminalError } from 'rukpak-ts/sdk';
import { type Fields, isFields, placesAt } from './fields.ts';
import { described, type Item, identityOf, metadataOf } from './item.ts';
import { mayReferTo } from './may-refer-to.ts';
import { quoted } from './quoted.ts';
import { referencePlaces } from './reference-places.ts';
import { ofSameAffixes } from './same-affixes.ts';
import { isOfType } from './types.ts';

/** Has objects refer to others by the names that these have got. */
export function updateReferences(items: readonly Item[]): void {
  const byFormerName = Map.groupBy(
    items.flatMap((item) => formerNames(item).map((name) => ({ name, item }))),
    ({ name }) => name,
  );
  const called = (name: string) => byFormerName.get(name)?.map(({ item }) => item) ?? [];
  for (const referrer of items) {
    const { apiVersion, kind } = identityOf(referrer);
    for (const [target, type, path] of referencePlaces) {
      if (!isOfType(apiVersion, kind, type)) continue;
      const types = path === 'roleRef/name' ? [target, roleType(referrer)] : [target];
      const search = { referrer, types, items, called };
      for (const { owner, name } of placesAt(referrer.object, path))
        owner[name] = updated(owner[name], search);
    }
  }
}

interface Search {
  readonly referrer: Item;
  /** All of which it must be of, or once have been of. */
  readonly types: readonly string[];
  readonly items: readonly Item[];
  /** What once had a name. */
  readonly called: (name: string) => readonly Item[];
}

/** A name, a map with a name and a namespace, or a list of them. */
function updated(value: unknown, search: Search): unknown {
  if (Array.isArray(value)) return value.map((each) => updated(each, search));
  if (isFields(value)) return updatedFields(value, search);
  if (typeof value !== 'string') return value;
  const found = theOne(value, search, search.called(value));
  return found === undefined ? value : metadataOf(found)['name'];
}

function updatedFields(reference: Fields, search: Search): Fields {
  const name = String(reference['name']);
  const found = theOne(name, search, inNamespace(search.called(name), reference, search));
  if (found === undefined) return reference;
  const { name: now, namespace = reference['namespace'] } = metadataOf(found);
  return { ...reference, name: now, ...(namespace === undefined ? {} : { namespace }) };
}

/** What was in the namespace at first; where nothing was in it, what is in it now. */
function inNamespace(candidates: readonly Item[], { namespace }: Fields, search: Search) {
  if (namespace === undefined || candidates.length === 0) return candidates;
  const wasIn = (item: Item) => (item.formerly[0] ?? identityOf(item)).namespace === namespace;
  const { items, referrer } = search;
  return items.some((item) => wasIn(item) && mayReferTo(referrer, item))
    ? candidates.filter(wasIn)
    : candidates.filter((item) => identityOf(item).namespace === namespace);
}

function theOne(name: string, search: Search, candidates: readonly Item[]): Item | undefined {
  const { referrer, types } = search;
  const possible = candidates.filter(
    (item) => mayReferTo(referrer, item) && types.every((type) => wasOfType(item, type)),
  );
  const [found, second] = ofSameAffixes(possible, referrer);
  if (found === undefined || second === undefined) return found;
  const both = `${described(identityOf(found))} and ${described(identityOf(second))}`;
  throw new TerminalError(
    `${described(identityOf(referrer))} refers to ${quoted(name)}, which were ${both}: rename one of them`,
  );
}

function formerNames({ formerly }: Item): readonly string[] {
  return [...new Set(formerly.map(({ name }) => name))];
}

function wasOfType({ formerly }: Item, type: string): boolean {
  return formerly.some(({ apiVersion, kind }) => isOfType(apiVersion, kind, type));
}

/** What a binding's `roleRef` says that it refers to. */
function roleType({ object: { roleRef } }: Item): string {
  const { apiGroup, kind } = isFields(roleRef) ? roleRef : {};
  const isWhole = typeof apiGroup === 'string' && typeof kind === 'string';
  return isWhole ? `${apiGroup}/*/${kind}` : '*/*/*';
}
