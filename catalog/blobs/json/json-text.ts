import { compareBytes } from '../../../api/byte-order.ts';
import type { JsonObject, JsonValue } from '../../../api/json.ts';

/** JSON format options, for the two variants of Go's encoder. */
export interface JsonRules {
  /** Escape `<`, `>` and `&`: Go's default. */
  readonly escapeHtml: boolean;
  /** Sort the members of objects by name, as Go does for maps; else keep their order. */
  readonly sorted: boolean;
}

const plain: JsonRules = { escapeHtml: false, sorted: true };

/** JSON text of a value, written unchanged. */
export class RawJson {
  /** Thrown by JSON.stringify for such a text, which it cannot write. */
  static readonly unwritable = new Error('JSON text');
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): never {
    throw RawJson.unwritable;
  }
}

/** A value as compact JSON, with exactly the bytes of Go's encoding/json. */
export function jsonText(value: JsonValue | undefined, rules = plain): string {
  if (typeof value !== 'object' || value === null || !rules.sorted) return memberText(value, rules);
  const ordered = inKeyOrder(value);
  const text = ordered === undefined ? undefined : nativeJson(ordered);
  if (text === undefined) return memberText(value, rules);
  return rules.escapeHtml ? htmlEscaped(text) : text;
}

/**
 * Text of JSON.stringify, several times faster than the text of each member; undefined if Go's text
 * differs.
 */
export function nativeJson(value: unknown, indent = 0): string | undefined {
  try {
    const text = JSON.stringify(value, undefined, indent);
    return differsInGo(text) ? undefined : text;
  } catch (error) {
    if (error === RawJson.unwritable) return undefined;
    throw error;
  }
}

/** True for half of a surrogate pair, or a separator that Go escapes. */
function differsInGo(text: string): boolean {
  if (text.includes('\\ud')) return true;
  return Buffer.byteLength(text) !== text.length && /[\u2028\u2029]/.test(text);
}

function memberText(value: JsonValue | undefined, rules: JsonRules): string {
  if (typeof value === 'string') return stringText(value, rules.escapeHtml);
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    return `[${items.map((item) => memberText(item, rules)).join(',')}]`;
  }
  if (value instanceof RawJson) return value.text;
  if (typeof value === 'object' && value !== null) {
    const object = value as JsonObject;
    const members = keysOf(object, rules).map(
      (key) => `${stringText(key, rules.escapeHtml)}:${memberText(object[key], rules)}`,
    );
    return `{${members.join(',')}}`;
  }
  return leafText(value);
}

/** The same over several lines, four spaces per level; `indent` precedes all but the first. */
export function indentedJson(value: JsonValue | undefined, indent: string): string {
  if (typeof value !== 'object' || value === null) return jsonText(value);
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item) => indentedJson(item, inner));
    return items.length === 0 ? '[]' : `[\n${inner}${items.join(`,\n${inner}`)}\n${indent}]`;
  }
  const object = value as JsonObject;
  const members = keysOf(object, plain).map(
    (key) => `${stringText(key, false)}: ${indentedJson(object[key], inner)}`,
  );
  return members.length === 0 ? '{}' : `{\n${inner}${members.join(`,\n${inner}`)}\n${indent}}`;
}

/**
 * The value with members of objects sorted by name, as Go writes them; the same value if they are.
 * Undefined if a JavaScript object cannot have that order, or JSON.stringify writes another text.
 */
export function inKeyOrder(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value)
      ? listInOrder(value as readonly JsonValue[])
      : objectInOrder(value as JsonObject);
  }
  return typeof value === 'bigint' || Object.is(value, -0) ? undefined : value;
}

function listInOrder(list: readonly JsonValue[]): readonly JsonValue[] | undefined {
  let changed: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index] as JsonValue;
    const ordered = inKeyOrder(item);
    if (ordered === undefined) return undefined;
    if (ordered !== item) {
      changed ??= [...list];
      changed[index] = ordered;
    }
  }
  return changed ?? list;
}

function objectInOrder(object: JsonObject): JsonObject | undefined {
  const keys = Object.keys(object);
  return areSorted(keys)
    ? sortedObject(object, keys)
    : orderedCopy(object, keys.sort(compareBytes));
}

function sortedObject(object: JsonObject, keys: readonly string[]): JsonObject | undefined {
  for (const key of keys) {
    const member = object[key];
    const value = member === undefined ? undefined : inKeyOrder(member);
    if (value === undefined) return undefined;
    if (value !== member) return orderedCopy(object, keys);
  }
  return object;
}

/** JavaScript puts keys that look like an index first, in any order of insertion. */
function orderedCopy(object: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const copy: Record<string, JsonValue> = {};
  for (const key of keys) {
    const value = inKeyOrder(object[key] ?? null);
    if (value === undefined || key === '__proto__' || startsWithDigit(key)) return undefined;
    copy[key] = value;
  }
  return copy;
}

function areSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index += 1) {
    if (compareBytes(keys[index - 1] ?? '', keys[index] ?? '') > 0) return false;
  }
  return true;
}

function startsWithDigit(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

function keysOf(object: JsonObject, { sorted }: JsonRules): readonly string[] {
  const keys = Object.keys(object);
  return sorted ? keys.sort(compareBytes) : keys;
}

/** Go decodes every number without a type as a float64. */
function leafText(value: string | number | bigint | boolean | null | undefined): string {
  return Object.is(value, -0) ? '-0' : String(value ?? null);
}

const escapedAlways = /[\u2028\u2029]/g;
const escapedForHtml = /[<>&\u2028\u2029]/g;

export function stringText(value: string, escapeHtml: boolean): string {
  const written = JSON.stringify(value.toWellFormed());
  return written.replace(escapeHtml ? escapedForHtml : escapedAlways, unicodeEscape);
}

/** JSON text with `<`, `>` and `&` escaped, as Go does for text that it does not decode. */
export function htmlEscaped(json: string): string {
  return json.replace(escapedForHtml, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
