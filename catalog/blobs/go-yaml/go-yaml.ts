import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import { inNaturalOrder } from '../natural-order.ts';
import { scalarText } from './go-yaml-scalar.ts';

/** A value as a YAML document, with the bytes of Go's sigs.k8s.io/yaml for a value from JSON. */
export function goYaml(value: JsonObject): string {
  const writer = new YamlWriter();
  writer.node(value, 0);
  return writer.text();
}

const step = 2;

class YamlWriter {
  /** Joined at the end: a text that grows is a tree of small objects, which V8 moves at collections. */
  readonly #pieces: string[] = [];

  text(): string {
    return this.#pieces.join('');
  }

  /** Writes a value after a dash, or the document; `column` is that of its mapping or list. */
  node(value: JsonValue, column: number): void {
    if (Array.isArray(value) && value.length > 0) this.#list(value, column);
    else if (isMap(value) && hasMembers(value)) this.#mapping(value, column);
    else this.#pieces.push(leafLine(value, column, column));
  }

  #list(items: readonly JsonValue[], indent: number): void {
    let lead = '- ';
    for (const item of items) {
      this.#pieces.push(lead);
      lead = `${spaces(indent)}- `;
      this.node(item, indent + step);
    }
  }

  #mapping(map: JsonObject, indent: number): void {
    let lead = '';
    for (const key of inNaturalOrder(Object.keys(map))) {
      this.#pieces.push(lead);
      lead = spaces(indent);
      if (isLongKey(key)) this.#explicit(key, map[key] ?? null, indent);
      else this.#member(key, map[key] ?? null, indent);
    }
  }

  #member(key: string, value: JsonValue, indent: number): void {
    const { text, width } = keyText(key);
    if (Array.isArray(value) && value.length > 0) {
      this.#pieces.push(text, ':\n', spaces(indent));
      this.#list(value, indent);
    } else if (isMap(value) && hasMembers(value)) {
      this.#pieces.push(text, ':\n', spaces(indent + step));
      this.#mapping(value, indent + step);
    } else {
      this.#pieces.push(text, ': ', leafLine(value, indent + step, indent + width + step));
    }
  }

  /** Writes a key that is too long for one line on a line of its own. */
  #explicit(key: string, value: JsonValue, indent: number): void {
    const column = indent + step;
    this.#pieces.push('? ', leafLine(key, column, column), spaces(indent), ': ');
    this.node(value, column);
  }
}

const blanks = Array.from({ length: 64 }, (_, count) => ' '.repeat(count));

function spaces(count: number): string {
  return blanks[count] ?? ' '.repeat(count);
}

function hasMembers(map: JsonObject): boolean {
  for (const key in map) if (Object.hasOwn(map, key)) return true;
  return false;
}

/** A scalar or empty value with its line end; further lines start at the indent. */
function leafLine(value: JsonValue, indent: number, column: number): string {
  if (typeof value === 'string') return textLine(value, indent, column);
  if (typeof value === 'number' || typeof value === 'bigint') return `${numberText(value)}\n`;
  if (value === null) return 'null\n';
  if (typeof value === 'object') return Array.isArray(value) ? '[]\n' : '{}\n';
  return value ? 'true\n' : 'false\n';
}

/** A block that ends with a line separator needs no line feed. */
function textLine(value: string, indent: number, column: number): string {
  const text = scalarText(value, { indent, column, isKey: false });
  const last = text.charCodeAt(text.length - 1);
  return last === 0x2028 || last === 0x2029 ? text : `${text}\n`;
}

/** Integers of 64 bits in full; all other numbers as floats. */
function numberText(value: number | bigint): string {
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'bigint' || Number.isInteger(value)) {
    const integer = BigInt(value);
    // Go's JSON has the shortest digits that restore the same float, followed by zeros.
    const exact =
      typeof value === 'bigint' || Math.abs(value) >= 1e21 ? integer : BigInt(String(value));
    if (exact >= -(2n ** 63n) && exact < 2n ** 64n) return exact.toString();
  }
  return floatText(Number(value));
}

/** Go's `%g`: below 1e-4 and from 1e6 with an exponent of at least two digits. */
function floatText(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const sign = power < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** A key in YAML, and its number of columns. */
interface KeyText {
  readonly text: string;
  readonly width: number;
}

/** Catalogs repeat a few keys many times. */
const known = new Map<string, KeyText>();
const mostKnown = 10_000;

/** A key as go-yaml writes it before the colon: always on one line. */
function keyText(key: string): KeyText {
  const found = known.get(key);
  if (found !== undefined) return found;
  const text = scalarText(key, { column: 0, indent: 0, isKey: true });
  const made = { text, width: Array.from(text).length };
  if (known.size < mostKnown) known.set(key, made);
  return made;
}

const longest = 128;

/** Whether go-yaml gives the key a line of its own. */
function isLongKey(key: string): boolean {
  if (key.length * 3 <= longest && plain.test(key)) return false;
  return Buffer.byteLength(key) > longest || /[\n\r\x85\u2028\u2029]/.test(key);
}

const plain = /^[\w./-]*$/;
