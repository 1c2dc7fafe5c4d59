import { compareBytes } from '../../../api/byte-order.ts';
import type { JsonValue } from '../../../api/json.ts';
import { isJsonObject } from '../../../core/manifests/index.ts';

/** A decoded JSON value in Go's `%v` format. */
export function goPrinted(value: JsonValue | undefined): string {
  return printed(value, leafText);
}

/** A decoded JSON value in Go's `%t` format, which supports only booleans. */
export function goPrintedAsBool(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '%!t(<nil>)';
  return printed(value, (leaf) => {
    if (typeof leaf === 'boolean') return String(leaf);
    return `%!t(${typeof leaf === 'string' ? 'string' : 'float64'}=${leafText(leaf)})`;
  });
}

function leafText(value: JsonValue): string {
  if (typeof value === 'number') return floatText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A float64 in Go's `%g` format with the shortest digits. */
function floatText(value: number): string {
  const [digits = '0', exponent = '0'] = value.toExponential().split('e');
  const size = Number(exponent);
  if (value === 0 || (size >= -4 && size < 6)) return Object.is(value, -0) ? '-0' : String(value);
  return `${digits}e${size < 0 ? '-' : '+'}${String(Math.abs(size)).padStart(2, '0')}`;
}

function printed(value: JsonValue | undefined, leaf: (value: JsonValue) => string): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) {
    return `[${value.map((item: JsonValue) => printed(item, leaf)).join(' ')}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort(compareBytes);
    return `map[${keys.map((key) => `${leaf(key)}:${printed(value[key], leaf)}`).join(' ')}]`;
  }
  return leaf(value);
}
