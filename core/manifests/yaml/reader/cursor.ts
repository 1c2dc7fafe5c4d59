/** Thrown at YAML that the block reader does not support; never leaves it. */
export const unsupported = new Error("outside of the block reader's YAML");

/** Codes of structural characters. */
export const char = {
  tab: 0x09,
  newline: 0x0a,
  space: 0x20,
  bang: 0x21,
  doubleQuote: 0x22,
  hash: 0x23,
  ampersand: 0x26,
  singleQuote: 0x27,
  asterisk: 0x2a,
  dash: 0x2d,
  colon: 0x3a,
  less: 0x3c,
  greater: 0x3e,
  bracket: 0x5b,
  backslash: 0x5c,
  brace: 0x7b,
  bar: 0x7c,
} as const;

/**
 * A position in a text whose lines all end with a line feed. Between nodes it is at the first
 * character of a line's content, or at the end.
 */
export class Cursor {
  readonly text: string;
  /** Offset of the next character to read. */
  at = 0;
  /** Column of the node at `at`; -1 at the end of the text. */
  column = -1;

  constructor(text: string, lineStart: number) {
    this.text = text;
    this.toContent(lineStart);
  }

  code(): number {
    return this.text.charCodeAt(this.at);
  }

  /** True when the character here is an indicator, because a space or the line's end follows. */
  isIndicator(): boolean {
    const next = this.text.charCodeAt(this.at + 1);
    return next === char.space || next === char.newline;
  }

  skipSpaces(): void {
    this.at = firstNonSpace(this.text, this.at);
  }

  /** Moves to the next content from a line with only a comment left. */
  endLine(): void {
    const start = this.at;
    this.skipSpaces();
    const isComment = this.code() === char.hash && this.at > start;
    if (!isComment && this.code() !== char.newline) throw unsupported;
    this.toContent(this.text.indexOf('\n', this.at) + 1);
  }

  /** Moves to the first content at or after the start of a line. */
  toContent(lineStart: number): void {
    let start = lineStart;
    for (;;) {
      this.at = firstNonSpace(this.text, start);
      const code = this.code();
      if (code !== char.hash && code !== char.newline) break;
      start = this.text.indexOf('\n', this.at) + 1;
    }
    this.column = this.at < this.text.length ? this.at - start : -1;
    if (this.code() === char.tab || (this.column === 0 && this.#isMarker())) throw unsupported;
  }

  // Document markers and directives.
  #isMarker(): boolean {
    const code = this.code();
    if (code === 0x25) return true;
    return code === char.dash || code === 0x2e
      ? this.text.startsWith('---', this.at) || this.text.startsWith('...', this.at)
      : false;
  }
}

const space = 0x20;
const tab = 0x09;

/** Offset of the first character at or after `from` that is not a space. */
export function firstNonSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === space) at += 1;
  return at;
}

/** The text without spaces and tabs at its start. */
export function trimBlanksStart(text: string): string {
  let start = 0;
  while (isBlank(text, start)) start += 1;
  return start === 0 ? text : text.slice(start);
}

/** The text without spaces and tabs at its end. */
export function trimBlanksEnd(text: string): string {
  let end = text.length;
  while (isBlank(text, end - 1)) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === space || code === tab;
}
