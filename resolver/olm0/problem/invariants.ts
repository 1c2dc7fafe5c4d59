import type { Variable } from '../../solver/index.ts';
import { compareText, isReadable } from '../entries/entry.ts';
import type { BundleVariable } from './bundle-variables.ts';

/** One bundle at most provides an API, and one at most is of a package. */
export function invariants(bundles: Iterable<BundleVariable>): readonly Variable[] {
  const byApi = new Map<string, string[]>();
  const byPackage = new Map<string, string[]>();
  for (const { id, entry } of bundles) {
    if (!isReadable(entry)) continue;
    for (const { group, version, kind } of entry.apis)
      add(byApi, `${kind} (${group}/${version})`, id);
    for (const name of entry.packageNames) add(byPackage, name, id);
  }
  return [
    ...single(byApi, {
      mandatory: (api) => `there can be only one provider of ${api}`,
      atMost: (bundles, api) => `${bundles} provide ${api}`,
    }),
    ...single(byPackage, {
      mandatory: (name) => `there can be only one operator from package ${name}`,
      atMost: (bundles, name) => `${bundles} originate from package ${name}`,
    }),
  ];
}

function add(map: Map<string, string[]>, key: string, id: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [id]);
  else known.push(id);
}

interface Texts {
  readonly mandatory: (key: string) => string;
  readonly atMost: (bundles: string, key: string) => string;
}

function single(providers: ReadonlyMap<string, readonly string[]>, texts: Texts): Variable[] {
  return [...providers].flatMap(([key, unsorted]) => {
    if (unsorted.length < 2) return [];
    const ids = unsorted.toSorted(compareText);
    const bundles = `${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}`;
    return [
      {
        id: key,
        constraints: [
          { kind: 'mandatory', text: texts.mandatory(key) } as const,
          { kind: 'at-most', count: 1, ids, text: texts.atMost(bundles, key) } as const,
        ],
      },
    ];
  });
}
