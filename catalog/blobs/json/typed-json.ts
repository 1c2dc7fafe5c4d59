import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { TerminalError } from '../../../core/errors.ts';
import { jsonText, stringText } from './json-text.ts';

/**
 * A Go type into which upstream decodes JSON, as far as it affects reading: the values that it
 * rejects, the order of its fields when written, and the fields that it omits.
 */
export type Shape =
  | { readonly kind: 'string' | 'boolean' | 'any'; readonly type?: string }
  | { readonly kind: 'integer'; readonly type: string }
  | { readonly kind: 'bytes' }
  /** A text that its type parses further, and may reject; null is parsed as an empty text. */
  | { readonly kind: 'parsed'; readonly parse: (text: string) => void }
  | { readonly kind: 'list' | 'map'; readonly of: Shape; readonly type: string }
  | StructShape;

export interface StructShape {
  readonly kind: 'struct';
  /** Name of the type without its package; empty for an unnamed type. */
  readonly name: string;
  readonly type: string;
  readonly fields: Readonly<Record<string, Field>>;
}

interface Field {
  readonly shape: Shape;
  /** Written even if it is empty. */
  readonly always?: boolean;
}

export const text: Shape = { kind: 'string' };
export const flag: Shape = { kind: 'boolean' };
export const any: Shape = { kind: 'any' };
export const texts: Shape = { kind: 'list', of: text, type: '[]string' };
export const textMap: Shape = { kind: 'map', of: text, type: 'map[string]string' };

/** A struct of a Go package, such as `v1alpha1.AppLink`; fields in `always` are never omitted. */
export function struct(
  type: string,
  fields: Readonly<Record<string, Shape>>,
  always: readonly string[] = [],
): StructShape {
  const entries = Object.entries(fields).map(([name, shape]): [string, Field] => [
    name,
    { shape, always: always.includes(name) || shape.kind === 'struct' },
  ]);
  const name = type.startsWith('struct {') ? '' : type.slice(type.lastIndexOf('.') + 1);
  return { kind: 'struct', name, type, fields: Object.fromEntries(entries) };
}

export function listOfShape(of: Shape & { readonly type: string }, pointers = false): Shape {
  return { kind: 'list', of, type: `[]${pointers ? '*' : ''}${of.type}` };
}

/**
 * Decodes a value into the type like Go's encoding/json: field names match in any case, null leaves
 * a field empty, struct fields get the order of the type, unknown fields are dropped.
 * @throws TerminalError `json: cannot unmarshal …` for the first value of the wrong type.
 */
export function decodeAs(shape: Shape, value: JsonValue | undefined): JsonValue | undefined {
  return new Decoder().value(shape, value);
}

class Decoder {
  /** Names of the fields that lead to a value, and the struct of the last one. */
  readonly #path: string[] = [];
  #struct: StructShape | undefined;

  value(shape: Shape, value: JsonValue | undefined): JsonValue | undefined {
    if (shape.kind === 'parsed' && value !== undefined) return this.#parsed(shape.parse, value);
    if (value === null || value === undefined) return undefined;
    switch (shape.kind) {
      case 'any':
        return value;
      case 'list':
        return this.#list(shape, value);
      case 'map':
        return this.#map(shape, value);
      case 'struct':
        return this.#members(shape, value);
      default:
        return this.#scalar(shape, value);
    }
  }

  #parsed(parse: (text: string) => void, value: JsonValue): JsonValue {
    const written = this.value(text, value) ?? '';
    parse(written as string);
    return written;
  }

  #scalar(shape: Shape, value: JsonValue): JsonValue {
    if (shape.kind === 'boolean' && typeof value === 'boolean') return value;
    if (shape.kind === 'integer' && Number.isInteger(Number(value)) && isNumber(value))
      return value;
    if ((shape.kind === 'string' || shape.kind === 'bytes') && typeof value === 'string')
      return value;
    throw this.#mismatch(shape, value);
  }

  #list(shape: Shape & { readonly kind: 'list' | 'map' }, value: JsonValue): JsonValue {
    if (!Array.isArray(value)) throw this.#mismatch(shape, value);
    return (value as readonly JsonValue[]).map((item) => this.#element(shape.of, item));
  }

  #map(shape: Shape & { readonly kind: 'list' | 'map' }, value: JsonValue): JsonValue {
    if (!isObject(value)) throw this.#mismatch(shape, value);
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, member]) => [key, this.#element(shape.of, member)]),
    );
  }

  /** A null element becomes the empty value of its type. */
  #element(shape: Shape, value: JsonValue | undefined): JsonValue {
    return this.value(shape, value) ?? emptyValue(shape);
  }

  #members(shape: StructShape, value: JsonValue): JsonValue {
    if (!isObject(value)) throw this.#mismatch(shape, value);
    const decoded = new Map<string, JsonValue | undefined>();
    const outer = this.#struct;
    for (const [key, member] of Object.entries(value)) {
      const name = fieldName(shape, key);
      const field = name === undefined ? undefined : shape.fields[name];
      if (name === undefined || field === undefined) continue;
      this.#path.push(name);
      this.#struct = shape;
      const read = this.value(field.shape, member);
      if (read !== undefined) decoded.set(name, read);
      this.#path.pop();
    }
    this.#struct = outer;
    const names = Object.keys(shape.fields).filter((name) => decoded.has(name));
    return Object.fromEntries(names.map((name) => [name, decoded.get(name)]));
  }

  #mismatch(shape: Shape, value: JsonValue): TerminalError {
    const into =
      this.#struct === undefined
        ? 'Go value'
        : `Go struct field ${this.#struct.name}.${this.#path.join('.')}`;
    const what = shape.kind === 'integer' && isNumber(value) ? `number ${value}` : typeName(value);
    return new TerminalError(
      `json: cannot unmarshal ${what} into ${into} of type ${goType(shape)}`,
    );
  }
}

function fieldName(shape: StructShape, key: string): string | undefined {
  if (Object.hasOwn(shape.fields, key)) return key;
  const folded = key.toLowerCase();
  return Object.keys(shape.fields).find((name) => name.toLowerCase() === folded);
}

function goType(shape: Shape): string {
  if (shape.kind === 'bytes') return '[]uint8';
  const plain: Record<string, string> = { boolean: 'bool', string: 'string', any: 'interface {}' };
  return ('type' in shape ? shape.type : undefined) ?? plain[shape.kind] ?? shape.kind;
}

function isNumber(value: JsonValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Name of a JSON value's type in Go's errors. */
function typeName(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (isNumber(value)) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function emptyValue(shape: Shape): JsonValue {
  if (['string', 'bytes', 'parsed'].includes(shape.kind)) return '';
  if (shape.kind === 'boolean') return false;
  if (shape.kind === 'integer') return 0;
  return shape.kind === 'struct' ? {} : null;
}

/**
 * Compact JSON of a decoded value, as Go writes it: fields in the order of the type, without empty
 * ones, maps by key, and HTML not escaped.
 */
export function writeAs(shape: Shape, value: JsonValue | undefined): string {
  if (shape.kind === 'struct') return membersText(shape, (value ?? {}) as JsonObject);
  if (value === undefined || value === null) return jsonText(emptyValue(shape), asIs);
  if (shape.kind === 'list') {
    const items = (value as readonly JsonValue[]).map((item) => writeAs(shape.of, item));
    return `[${items.join(',')}]`;
  }
  // A value that its type does not decode keeps the escapes of its source.
  return jsonText(value, shape.kind === 'any' ? { escapeHtml: true, sorted: true } : asIs);
}

const asIs = { escapeHtml: false, sorted: true };

function membersText(shape: StructShape, value: JsonObject): string {
  const members = Object.entries(shape.fields)
    .filter(([name, field]) => field.always === true || !isEmpty(value[name]))
    .map(([name, field]) => `${stringText(name, false)}:${writeAs(field.shape, value[name])}`);
  return `{${members.join(',')}}`;
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (value === 0) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
