import type { JsonValue } from '../json.ts';
import { isInteger, type JsonSchema } from './json-schema.ts';

/** A value, the schema to check it against, and its path: `spec.items[0].name`. */
export interface Subject<T extends JsonValue = JsonValue> {
  readonly value: T;
  readonly schema: JsonSchema;
  /** Empty for the root. */
  readonly path: string;
  /** Checks a part of the value, or the value against another schema. */
  readonly validate: (part: SubjectPart) => Outcome;
}

export type SubjectPart = Omit<Subject, 'validate'>;

export type Kind = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

export function kindOf(value: JsonValue): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return isInteger(value) ? 'integer' : 'number';
    default:
      return 'object';
  }
}

/** The types that a schema allows; empty for any type. */
export function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}

/** Enough for any message; further ones are only counted. */
const maxTexts = 500;

/** The results of checking one value, each text once. */
export class Outcome {
  /** Created with the first text: nearly all of very many values are valid. */
  #texts: Set<string> | undefined;
  #uncounted = 0;
  /**
   * Number of checks without a problem, as go-openapi counts them: of several failing alternatives
   * it reports the one with the most.
   */
  matches = 0;

  static of(text: string): Outcome {
    const outcome = new Outcome();
    outcome.add(text);
    return outcome;
  }

  get isValid(): boolean {
    return this.#texts === undefined;
  }

  get texts(): readonly string[] {
    return [...(this.#texts ?? [])];
  }

  /** Number of problems beyond the texts. */
  get more(): number {
    return this.#uncounted;
  }

  add(text: string): void {
    this.#texts ??= new Set();
    if (this.#texts.size < maxTexts) this.#texts.add(text);
    else if (!this.#texts.has(text)) this.#uncounted += 1;
  }

  merge(other: Outcome | undefined): void {
    if (other === undefined) return;
    for (const text of other.#texts ?? []) this.add(text);
    this.#uncounted += other.#uncounted;
    this.matches += other.matches;
  }
}

/*
 * The API server's texts for invalid values (apiextensions-apiserver v0.28), with the type instead
 * of the value: the user may lack permission to read the custom resources.
 */

/** A field in the texts' notation: below `[]`, the nameless root. */
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

/** Types, or formats in their place; empty without any. */
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

/** Problems with several schemas of one value are reported at the root. */
export function mismatch(path: string, detail: string): string {
  return fault('', '', `"${path}" ${detail}`);
}
