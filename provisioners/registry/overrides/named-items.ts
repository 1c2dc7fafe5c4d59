import type { JsonValue } from '../../../core/sdk.ts';
import { isMap, itemsOf } from '../pod-template/template-parts.ts';
import type { NamedItem } from './deployment-overrides.ts';

/**
 * A list with these items put in: the first one of the same name is replaced where it stands, by
 * the last of those that have it; others come after those there are.
 */
export function withNamedItems(
  list: JsonValue | undefined,
  added: readonly NamedItem[],
): readonly JsonValue[] {
  const written = itemsOf(list);
  const merged = [...written];
  for (const item of added) {
    const place = written.findIndex((each) => isMap(each) && each['name'] === item.name);
    if (place < 0) merged.push(item);
    else merged[place] = item;
  }
  return merged;
}
