import type { JsonObject, JsonValue } from '../../api/json.ts';
import { isMap } from '../../api/json-fields.ts';
import { scalarText } from './go-yaml-scalar.ts';
import { byNaturalOrder } from './natural-order.ts';

/** A value as a YAML document, byte by byte as Go's sigs.k8s.io/yaml writes one that it has read from JSON. */
export function goYaml(value: JsonObject): string {
  const writer = new YamlWriter();
  writer.node(value, { indent: 0, column: 0 });
  return writer.text;
}

interface NodePlace {
  /** Column of the mapping or list that it is in. */
  readonly indent: number;
  readonly column: number;
}

const step = 2;

class YamlWriter {
  text = '';

  /** A value behind a dash, or as the document. */
  node(value: JsonValue, { indent, column }: NodePlace): void {
    if (Array.isArray(value) && value.length > 0) this.#list(value, indent);
    else if (isMap(value) && Object.keys(value).length > 0) this.#mapping(value, indent);
    else this.text += line(leaf(value, { indent, column }));
  }

  #list(items: readonly JsonValue[], indent: number): void {
    let lead = '';
    for (const item of items) {
      this.text += `${lead}- `;
      lead = ' '.repeat(indent);
      const column = indent + step;
      this.node(item, { indent: column, column });
    }
  }

  #mapping(map: JsonObject, indent: number): void {
    let lead = '';
    for (const key of Object.keys(map).toSorted(byNaturalOrder)) {
      const place = { column: indent, indent: indent + step, isKey: true };
      const name = scalarText(key.toWellFormed(), place);
      this.text += lead;
      lead = ' '.repeat(indent);
      if (isLong(key)) this.#explicit(key, map[key] ?? null, indent);
      else this.#member(name, map[key] ?? null, indent);
    }
  }

  #member(name: string, value: JsonValue, indent: number): void {
    this.text += `${name}:`;
    if (Array.isArray(value) && value.length > 0) {
      this.text += `\n${' '.repeat(indent)}`;
      this.#list(value, indent);
    } else if (isMap(value) && Object.keys(value).length > 0) {
      this.text += `\n${' '.repeat(indent + step)}`;
      this.#mapping(value, indent + step);
    } else {
      const column = indent + Array.from(name).length + step;
      this.text += ` ${line(leaf(value, { indent: indent + step, column }))}`;
    }
  }

  /** A key that is too long for one line has a line of its own. */
  #explicit(key: string, value: JsonValue, indent: number): void {
    const column = indent + step;
    const name = scalarText(key.toWellFormed(), { column, indent: column, isKey: false });
    this.text += `? ${line(name)}${' '.repeat(indent)}: `;
    this.node(value, { indent: column, column });
  }
}

const longest = 128;

function isLong(key: string): boolean {
  return Buffer.byteLength(key) > longest || /[\n\r\x85\u2028\u2029]/.test(key);
}

/** A block whose text ends with a line separator ends the line by that. */
function line(text: string): string {
  return /[\u2028\u2029]$/.test(text) ? text : `${text}\n`;
}

function leaf(value: JsonValue, place: NodePlace): string {
  if (typeof value === 'string') {
    return scalarText(value.toWellFormed(), { ...place, isKey: false });
  }
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(value);
  if (value === null) return 'null';
  return typeof value === 'object' ? (Array.isArray(value) ? '[]' : '{}') : String(value);
}

/** Integers of 64 bits in full; all others as floats. */
function numberText(value: number | bigint): string {
  if (typeof value === 'bigint' || Number.isInteger(value)) {
    const integer = BigInt(value);
    // Go's JSON has the shortest digits that give the same float again, and zeros behind them.
    const exact =
      typeof value === 'bigint' || Math.abs(value) >= 1e21 ? integer : BigInt(String(value));
    if (exact >= -(2n ** 63n) && exact < 2n ** 64n) return exact.toString();
  }
  return floatText(Number(value));
}

/** As Go's `%g`: with an exponent of at least two digits below 1e-4 and from 1e6 on. */
function floatText(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const sign = power < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}
