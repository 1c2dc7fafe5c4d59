import { explicitKey, longestSimpleKey, writeKey, writeScalar } from './yaml/write-scalar.ts';

/**
 * Writes objects as YAML documents, each preceded by a `---` line. Members keep their order, lists
 * stand in the column of their key, and what any YAML 1.1 reader could take for something else than
 * a string is quoted. Members that are `undefined` are left out; a `bigint` is written in full.
 */
export function toYaml(objects: readonly object[]): string {
  const writer = new Writer();
  for (const object of objects) writer.document(object);
  return writer.text();
}

class Writer {
  #text = '';
  /** Keys as they are written: of a CRD's thousands only a few differ. */
  readonly #keys = new Map<string, string>();

  text(): string {
    return this.#text;
  }

  document(object: object): void {
    this.#text += '---\n';
    if (isEmpty(object)) this.#text += `${writeLeaf(object, '')}\n`;
    else this.#collection(object, '', '');
  }

  // `lead` stands in front of the first member, on its line: the dashes of the lists around it.
  #collection(value: object, indent: string, lead: string): void {
    if (Array.isArray(value)) this.#items(value, indent, lead);
    else this.#members(value, indent, lead);
  }

  #items(items: readonly unknown[], indent: string, lead: string): void {
    const inner = `${indent}  `;
    let start = lead;
    for (const item of items) {
      if (isCollection(item)) this.#collection(item, inner, `${start}- `);
      else this.#text += `${start}- ${writeLeaf(item, inner)}\n`;
      start = indent;
    }
  }

  #members(map: object, indent: string, lead: string): void {
    const inner = `${indent}  `;
    let start = lead;
    for (const [key, member] of Object.entries(map)) {
      if (member === undefined) continue;
      const name = `${start}${this.#key(key, indent)}:`;
      start = indent;
      if (isCollection(member)) {
        this.#text += `${name}\n`;
        const column = Array.isArray(member) ? indent : inner;
        this.#collection(member, column, column);
      } else {
        this.#text += `${name} ${writeLeaf(member, inner)}\n`;
      }
    }
  }

  #key(key: string, indent: string): string {
    let written = this.#keys.get(key);
    if (written === undefined) {
      written = writeKey(key);
      this.#keys.set(key, written);
    }
    return written.length <= longestSimpleKey ? written : explicitKey(written, indent);
  }
}

// An item of a list, or a member that fits behind its key.
function writeLeaf(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return writeScalar(value, indent);
  return Array.isArray(value) ? '[]' : '{}';
}

function isCollection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isEmpty(value);
}

function isEmpty(value: object): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return Object.values(value).every((member) => member === undefined);
}
