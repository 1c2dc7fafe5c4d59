/** The fields of an object, or of a part of it. */
export interface Fields {
  [name: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A field, which may be missing, and what holds it. */
export interface Place {
  readonly owner: Fields;
  readonly name: string;
}

/**
 * The places that a path such as `spec/containers/env` leads to, through every item of the lists on
 * its way; a slash in a name is written `\/`. With `make`, maps that are missing on the way are made.
 */
export function* placesAt(value: unknown, path: string, make = false): Generator<Place> {
  if (Array.isArray(value)) for (const item of value) yield* placesAt(item, path, make);
  if (!isFields(value)) return;
  const [first = '', rest] = path.split(/(?<!\\)\/(.*)/s);
  // `[]` marks a list: there is nothing to make where it is missing.
  const isList = first.endsWith('[]');
  const name = first.replace('[]', '').replaceAll('\\/', '/');
  if (rest === undefined) {
    yield { owner: value, name };
    return;
  }
  if (make && !isList) value[name] ??= {};
  yield* placesAt(value[name], rest, make);
}
