/** The API server's texts for what is wrong with a value (apiextensions-apiserver v0.28). */

/** A field as the texts name it: below `[]`, the nameless root. */
function field(path: string): string {
  const name = path.replace(/^\./, '');
  return name === '' ? '[]' : `[].${name}`;
}

export function required(path: string): string {
  return `${field(path)}: Required value`;
}

/** `value` as Go prints it. */
export function invalid(path: string, value: string, detail: string): string {
  return `${field(path)}: Invalid value: ${value}: ${detail}`;
}

export function wrongType(path: string, expected: string, actual: string): string {
  return invalid(path, `"${actual}"`, `${path} in body must be of type ${expected}: "${actual}"`);
}

export function unsupported(path: string, value: string, supported: readonly string[]): string {
  return `${field(path)}: Unsupported value: ${value}: supported values: ${supported.join(', ')}`;
}

export function tooLong(path: string, max: number): string {
  return `${field(path)}: Too long: may not be longer than ${max}`;
}

export function tooMany(path: string, actual: number, max: number): string {
  return `${field(path)}: Too many: ${actual}: must have at most ${max} items`;
}

/** What concerns several schemas of one value is reported at the root. */
export function mismatch(path: string, detail: string): string {
  return invalid('', '""', `"${path}" ${detail}`);
}
