/**
 * Indents the continuation lines of quoted scalars that are further left than YAML requires. Go
 * reads them and the `yaml` package does not, and they occur in real bundles. Folding drops the
 * spaces again, so that the content stays the same; lines keep their numbers.
 */
export function indentQuotedLines(text: string): string {
  const scan = new Scan(text);
  while (scan.at < text.length) scan.line();
  return scan.result();
}

class Scan {
  at = 0;
  readonly #text: string;
  readonly #pieces: string[] = [];
  #copied = 0;
  #lineStart = 0;
  /** The lines of a multi-line scalar must be further right than this column. */
  #parent = -1;
  /** Column of the last text that may be a key. */
  #key = 0;

  constructor(text: string) {
    this.#text = text;
  }

  result(): string {
    return this.#pieces.join('') + this.#text.slice(this.#copied);
  }

  /** Moves over one line, and over a multi-line scalar that starts in it. */
  line(): void {
    this.#lineStart = this.at;
    this.#skipSpaces();
    this.#parent = this.at - this.#lineStart - 1;
    while (this.#token()) this.#skipSpaces();
  }

  // Moves over one token; false at the end of the line.
  #token(): boolean {
    const char = this.#text.charAt(this.at);
    if (char === '' || '\n#'.includes(char)) return this.#endLine();
    if ('"\''.includes(char)) return this.#quoted(char);
    if ('-?:'.includes(char) && this.#endsWord(this.at + 1)) return this.#indicator(char);
    if ('[{'.includes(char)) return this.#flow();
    if ('&!*'.includes(char)) return this.#property();
    return '|>'.includes(char) ? this.#skipDeeperLines() : this.#plain();
  }

  #indicator(char: string): boolean {
    this.#parent = char === ':' ? this.#key : this.at - this.#lineStart;
    this.at += 1;
    return true;
  }

  #property(): boolean {
    while (!this.#endsWord(this.at)) this.at += 1;
    return true;
  }

  #plain(): boolean {
    this.#key = this.at - this.#lineStart;
    for (; this.#text.charAt(this.at) !== '\n'; this.at += 1) {
      const char = this.#text.charAt(this.at);
      if (char === ':' && this.#endsWord(this.at + 1)) return true;
      if (char === '#' && this.#text.charAt(this.at - 1) === ' ') break;
    }
    return this.#skipDeeperLines();
  }

  #quoted(quote: string): boolean {
    const start = this.at;
    this.#key = start - this.#lineStart;
    this.at = Math.min(closingQuote(this.#text, start, quote) + 1, this.#text.length);
    if (!this.#text.slice(start, this.at).includes('\n')) return true;
    const indent = ' '.repeat(this.#key + 1);
    for (let line = this.#nextLine(start); line < this.at; line = this.#nextLine(line)) {
      this.#pieces.push(this.#text.slice(this.#copied, line), indent);
      this.#copied = line;
      this.#lineStart = line;
    }
    return true;
  }

  #flow(): boolean {
    let depth = 0;
    for (; this.at < this.#text.length; this.at += 1) {
      const char = this.#text.charAt(this.at);
      if (char === '[' || char === '{') depth += 1;
      if (char === ']' || char === '}') depth -= 1;
      if (depth === 0) break;
      if (this.#opensQuote(char)) {
        this.#quoted(char);
        this.at -= 1;
      }
    }
    this.at += 1;
    return true;
  }

  #opensQuote(char: string): boolean {
    return (char === '"' || char === "'") && ' ,:[{\n'.includes(this.#text.charAt(this.at - 1));
  }

  #skipDeeperLines(): false {
    this.#endLine();
    while (this.at < this.#text.length && this.#isDeeper()) this.#endLine();
    return false;
  }

  #isDeeper(): boolean {
    let first = this.at;
    while (this.#text.charAt(first) === ' ') first += 1;
    return this.#text.charAt(first) === '\n' || first - this.at > this.#parent;
  }

  #endLine(): false {
    this.at = this.#nextLine(this.at);
    return false;
  }

  #nextLine(from: number): number {
    const end = this.#text.indexOf('\n', from);
    return end === -1 ? this.#text.length : end + 1;
  }

  #skipSpaces(): void {
    while (this.#text.charAt(this.at) === ' ') this.at += 1;
  }

  #endsWord(at: number): boolean {
    const char = this.#text.charAt(at);
    return char === ' ' || char === '\n' || char === '';
  }
}

/** Offset of the scalar's closing quote; the text's end without one. */
function closingQuote(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\' && quote === '"') at += 1;
    else if (char === quote && quote === "'" && text.charAt(at + 1) === quote) at += 1;
    else if (char === quote) return at;
  }
  return text.length;
}
