import type { Source } from '../../core/contracts/source.ts';
import { builtInTypes } from '../../core/sources/index.ts';

/** Core's own types of sources, by type. */
export const sourceTypes = new Map(builtInTypes.map((each) => [each.type, each]));

/** One of core's sources with another fetch, as the only one that is served. */
export function onlySource(type: string, fetch: Source['fetch']): ReadonlyMap<string, Source> {
  const found = sourceTypes.get(type);
  if (found === undefined) throw new Error(`core has no source of type ${type}`);
  return new Map([[type, { ...found, fetch }]]);
}
