import { resolvePlain } from './yaml/scalars.ts';

/**
 * Writes objects as YAML documents, each after a `---` line. Keeps the order of members, writes
 * lists in the column of their key, and quotes every string that any YAML 1.1 reader could read as
 * another type. Omits `undefined` members; writes all digits of a `bigint`.
 */
export function toYaml(objects: readonly object[]): string {
  const writer = new Writer();
  for (const object of objects) writer.document(object);
  return writer.text();
}

class Writer {
  #text = '';
  /** Keys as written, cached: of a CRD's thousands only a few differ. */
  readonly #keys = new Map<string, string>();

  text(): string {
    return this.#text;
  }

  document(object: object): void {
    this.#text += '---\n';
    if (isEmpty(object)) this.#text += `${writeLeaf(object, '')}\n`;
    else this.#collection(object, '', '');
  }

  // `lead` precedes the first member on its line: the dashes of the surrounding lists.
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

// An item of a list, or a member that fits on the line of its key.
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

/** A scalar in the most readable style; `indent` is the column of a block's lines. */
function writeScalar(value: unknown, indent: string): string {
  switch (typeof value) {
    case 'string':
      return writeString(value.toWellFormed(), indent);
    case 'number':
      return writeNumber(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return 'null';
  }
}

/** A mapping's key without its colon. A long key needs the explicit form. */
function writeKey(key: string): string {
  const text = key.toWellFormed();
  return isPlain(text) ? text : quote(text);
}

/** Readers search this far for the colon of a key, including quotes and escapes. */
const longestSimpleKey = 1000;

/** A written key of any length, in the column of `indent`; its colon follows on the next line. */
function explicitKey(written: string, indent: string): string {
  return `? ${written}\n${indent}`;
}

function writeString(text: string, indent: string): string {
  if (isPlain(text)) return text;
  return text.includes('\n') && canBeBlock(text) ? writeBlock(text, indent) : quote(text);
}

// Numbers without a JSON form become null, as in JSON.
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  // With all its digits it would read as an exact integer, which it is not.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential();
  return String(value);
}

// Text that starts like a number, a date, a time or an indicator is quoted.
const plainText =
  /^[A-Za-z_/(][\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const brokenPlain = /: | #|:$| $/;

function isPlain(text: string): boolean {
  return plainText.test(text) && !brokenPlain.test(text) && typeof resolvePlain(text) === 'string';
}

const blockText =
  /^[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const blankLine = /^[ \t]+$/m;

function canBeBlock(text: string): boolean {
  return blockText.test(text) && !blankLine.test(text) && /^\n*[^ \t\n]/.test(text);
}

function writeBlock(text: string, indent: string): string {
  const content = text.replace(/(?<!\n)\n+$/, '');
  const lines = content.split('\n').map((line) => (line === '' ? '' : indent + line));
  const ending = text.length - content.length;
  const chomping = ending === 0 ? '-' : ending === 1 ? '' : '+';
  return `|${chomping}\n${lines.join('\n')}${'\n'.repeat(Math.max(ending - 1, 0))}`;
}

const escapedInQuotes = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

function quote(text: string): string {
  return escapedForYaml(JSON.stringify(text));
}

/** JSON text, with escapes for the characters that JSON allows and YAML does not. */
export function escapedForYaml(json: string): string {
  return json.replace(
    escapedInQuotes,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
