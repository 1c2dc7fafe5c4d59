import { type JsonObject, type JsonValue, TerminalError } from '../../../core/sdk.ts';
import { isList, isMap } from './objects.ts';

/**
 * One field of a document, read as into a typed Go struct: keys match in any case if none matches
 * exactly, null is the zero value, and another type is an error that names the field. Ignores
 * fields that no caller reads.
 */
export class Field {
  readonly #value: JsonValue | undefined;
  readonly #path: string;

  constructor(value: JsonValue | undefined, path: string) {
    this.#value = value ?? undefined;
    this.#path = path;
  }

  /** The value as written; undefined when absent or null. */
  get raw(): JsonValue | undefined {
    return this.#value;
  }

  get(key: string): Field {
    const object = this.#object('struct');
    const path = this.#path === '' ? key : `${this.#path}.${key}`;
    return new Field(object === undefined ? undefined : valueOf(object, key), path);
  }

  string(): string {
    if (this.#value === undefined) return '';
    if (typeof this.#value !== 'string') throw this.#mismatch('string');
    return this.#value;
  }

  /** For annotations: numbers and booleans become their text. */
  coercedString(): string {
    return isScalar(this.#value) ? String(this.#value) : this.string();
  }

  boolean(): boolean {
    if (this.#value === undefined) return false;
    if (typeof this.#value !== 'boolean') throw this.#mismatch('bool');
    return this.#value;
  }

  /** An integer; 0 when absent. */
  integer(): number {
    if (this.#value === undefined) return 0;
    if (!Number.isSafeInteger(this.#value)) throw this.#mismatch('int');
    return Number(this.#value);
  }

  /** Kubernetes' IntOrString; 0 when absent. */
  integerOrString(): number | string {
    return typeof this.#value === 'string' ? this.#value : this.integer();
  }

  object(): JsonObject | undefined {
    return this.#object('struct');
  }

  stringMap(): Readonly<Record<string, string>> {
    const entries = Object.entries(this.#object('map') ?? {});
    return Object.fromEntries(
      entries.map(([key, value]) => [key, new Field(value, `${this.#path}[${key}]`).string()]),
    );
  }

  /** Undefined when the list is absent, which Go distinguishes from an empty one. */
  list(): readonly Field[] | undefined {
    if (this.#value === undefined) return undefined;
    if (!isList(this.#value)) throw this.#mismatch('slice');
    return this.#value.map((item, index) => new Field(item, `${this.#path}[${index}]`));
  }

  strings(): readonly string[] | undefined {
    return this.list()?.map((item) => item.string());
  }

  #object(goKind: string): JsonObject | undefined {
    if (this.#value === undefined) return undefined;
    if (!isMap(this.#value)) throw this.#mismatch(goKind);
    return this.#value;
  }

  #mismatch(goKind: string): TerminalError {
    const place = this.#path === '' ? 'the document' : this.#path;
    return new TerminalError(
      `unrecognized type: ${goKind} (${place} is ${typeName(this.#value)}, correct the field in the bundle)`,
    );
  }
}

function valueOf(object: JsonObject, key: string): JsonValue | undefined {
  if (Object.hasOwn(object, key)) return object[key];
  const folded = key.toLowerCase();
  const found = Object.keys(object).findLast((other) => other.toLowerCase() === folded);
  return found === undefined ? undefined : object[found];
}

function isScalar(value: JsonValue | undefined): value is number | bigint | boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

function typeName(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'boolean' ? 'a bool' : `a ${typeof value}`;
}
