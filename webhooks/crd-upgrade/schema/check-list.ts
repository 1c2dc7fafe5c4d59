import { type JsonValue, stringifyJson } from '../../../api/json.ts';
import { Outcome } from './outcome.ts';
import type { Subject } from './subject.ts';
import { invalid, tooMany } from './violations.ts';

/** The items, how many there are, and that none is there twice. */
export function checkList({
  value,
  schema,
  path,
  validate,
}: Subject<readonly JsonValue[]>): Outcome {
  const outcome = new Outcome();
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      outcome.merge(validate({ value: item, schema: items, path: `${path}[${index}]` }));
    }
  }
  const { length } = value;
  if (minItems !== undefined && length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    outcome.add(invalid(path, value, detail));
  }
  if (maxItems !== undefined && length > maxItems) outcome.add(tooMany(path, maxItems));
  if (uniqueItems === true && hasDuplicates(value)) {
    outcome.add(invalid(path, value, `${path} in body shouldn't contain duplicates`));
  }
  outcome.matches += 1;
  return outcome;
}

function hasDuplicates(items: readonly JsonValue[]): boolean {
  return new Set(items.map(canonical)).size < items.length;
}

/** Equal text for equal values, whatever the order of their fields. */
function canonical(value: JsonValue): string {
  return stringifyJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}
