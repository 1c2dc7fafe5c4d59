/** A place in a pattern; what is read moves it on. */
export interface Cursor {
  readonly pattern: string;
  at: number;
}

/** Go's classes are of ASCII alone. */
const perlClasses: ReadonlyMap<string, string> = new Map([
  ['d', '[0-9]'],
  ['D', '[^0-9]'],
  ['w', '[0-9A-Za-z_]'],
  ['W', '[^0-9A-Za-z_]'],
  ['s', '[\\t\\n\\f\\r\\x20]'],
  ['S', '[^\\t\\n\\f\\r\\x20]'],
]);

const posixClasses: ReadonlyMap<string, string> = new Map([
  ['alnum', '0-9A-Za-z'],
  ['alpha', 'A-Za-z'],
  ['ascii', '\\x00-\\x7F'],
  ['blank', '\\t\\x20'],
  ['cntrl', '\\x00-\\x1F\\x7F'],
  ['digit', '0-9'],
  ['graph', '\\x21-\\x7E'],
  ['lower', 'a-z'],
  ['print', '\\x20-\\x7E'],
  ['punct', '\\x21-\\x2F\\x3A-\\x40\\x5B-\\x60\\x7B-\\x7E'],
  ['space', '\\t\\n\\v\\f\\r\\x20'],
  ['upper', 'A-Z'],
  ['word', '0-9A-Za-z_'],
  ['xdigit', '0-9A-Fa-f'],
]);

const controls: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** One character that stands for itself, inside classes and outside. */
export function literal(character: string): string {
  if (/^[A-Za-z0-9]$/.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** `[…]`, from its bracket to the closing one. */
export function characterClass(cursor: Cursor): string {
  cursor.at += 1;
  const negation = take(cursor, /\^/y) ?? '';
  let items = '';
  // A bracket that closes nothing yet stands for itself.
  for (let isFirst = true; isFirst || cursor.pattern.charAt(cursor.at) !== ']'; isFirst = false) {
    if (cursor.at >= cursor.pattern.length) throw new Error('missing ]');
    items += classItem(cursor);
  }
  cursor.at += 1;
  return `[${negation}${items}]`;
}

function classItem(cursor: Cursor): string {
  const posix = take(cursor, /\[:\^?\w+:\]/y);
  if (posix !== undefined) return posixClass(posix);
  const from = singleOrClass(cursor);
  if (from.startsWith('[') || from.startsWith('\\p') || from.startsWith('\\P')) return from;
  if (!/^-[^\]]/.test(cursor.pattern.slice(cursor.at, cursor.at + 2))) return from;
  cursor.at += 1;
  return `${from}-${singleOrClass(cursor)}`;
}

function singleOrClass(cursor: Cursor): string {
  if (cursor.pattern.charAt(cursor.at) === '\\') return escapedClass(cursor);
  const character = String.fromCodePoint(cursor.pattern.codePointAt(cursor.at) ?? 0);
  cursor.at += character.length;
  return literal(character);
}

function posixClass(text: string): string {
  const [, negation = '', name = ''] = /^\[:(\^?)(\w+):\]$/.exec(text) ?? [];
  const ranges = posixClasses.get(name);
  if (ranges === undefined) throw new Error(`unknown class ${text}`);
  return `[${negation}${ranges}]`;
}

/** What begins with a backslash: one character, or one of a class of them. */
export function escapedClass(cursor: Cursor): string {
  const unicode = take(cursor, /\\[pP](?:\{\^?\w+\}|\w)/y);
  if (unicode !== undefined) return unicodeClass(unicode);
  const hex = take(cursor, /\\x(?:[0-9A-Fa-f]{2}|\{[0-9A-Fa-f]{1,6}\})/y);
  if (hex !== undefined) return `\\u{${hex.replace(/[^0-9A-Fa-f]/g, '')}}`;
  const octal = take(cursor, /\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/y);
  if (octal !== undefined) return `\\u{${Number.parseInt(octal.slice(1), 8).toString(16)}}`;
  return escapedCharacter(take(cursor, /\\[^]/uy)?.slice(1) ?? '');
}

function escapedCharacter(character: string): string {
  const known = perlClasses.get(character);
  if (known !== undefined) return known;
  const control = controls.get(character);
  if (control !== undefined) return literal(control);
  if (/^[0-9A-Za-z]?$/.test(character)) throw new Error(`unknown escape \\${character}`);
  return literal(character);
}

function unicodeClass(text: string): string {
  const [, letter = '', negation, name = ''] = /^\\([pP])\{?(\^?)(\w+)\}?$/.exec(text) ?? [];
  const isNegated = (letter === 'P') !== (negation === '^');
  const property = name.length > 2 && name !== 'Any' ? `Script=${name}` : name;
  return `\\${isNegated ? 'P' : 'p'}{${property}}`;
}

/** What matches right here, if anything does. */
function take(cursor: Cursor, expression: RegExp): string | undefined {
  expression.lastIndex = cursor.at;
  const [found] = expression.exec(cursor.pattern) ?? [];
  cursor.at += found?.length ?? 0;
  return found;
}
