import type { JsonValue } from '../../../api/json.ts';
import { kindOf } from './subject.ts';

/*
 * The API server's texts for what is wrong with a value (apiextensions-apiserver v0.28), but with its
 * type in the place of the value: whoever may ask need not be allowed to read custom resources.
 */

/** A field as the texts name it: below `[]`, the nameless root. */
function field(path: string): string {
  const name = path.replace(/^\./, '');
  return name === '' ? '[]' : `[].${name}`;
}

export function required(path: string): string {
  return `${field(path)}: Required value`;
}

export function invalid(path: string, value: JsonValue, detail: string): string {
  return fault(path, kindOf(value), detail);
}

function fault(path: string, type: string, detail: string): string {
  return `${field(path)}: Invalid value: "${type}": ${detail}`;
}

/** Types, or formats that stand for them; empty where there is none. */
export function wrongType(path: string, expected: string, actual: string): string {
  return fault(path, actual, `${path} in body must be of type ${expected}: "${actual}"`);
}

export function unsupported(path: string, value: JsonValue, supported: readonly string[]): string {
  const values = supported.join(', ');
  return `${field(path)}: Unsupported value: "${kindOf(value)}": supported values: ${values}`;
}

export function tooLong(path: string, max: number): string {
  return `${field(path)}: Too long: may not be longer than ${max}`;
}

export function tooMany(path: string, max: number): string {
  return `${field(path)}: Too many: must have at most ${max} items`;
}

/** What concerns several schemas of one value is reported at the root. */
export function mismatch(path: string, detail: string): string {
  return fault('', '', `"${path}" ${detail}`);
}
