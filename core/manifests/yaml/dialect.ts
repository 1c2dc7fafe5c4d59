/** The package's, before the text of a plain or block scalar. */
const scalarMark = '\x1f';
const byteOrderMark = '\ufeff';

/**
 * Finds what the `yaml` package reads and kubectl reads otherwise, or not at all, in the lexemes of a
 * text: it would mean something else to those who apply it with kubectl (docs/adr/0002).
 */
export class Dialect {
  /** The last lexemes, the last of all first. */
  #before: readonly string[] = [];
  /** How many brackets and braces are open. */
  #depth = 0;

  problemOf(lexeme: string): string | undefined {
    const isText = this.#before[0] === scalarMark;
    const problem = isText ? this.#textProblem(lexeme) : this.#problem(lexeme);
    // An empty scalar is nothing that is written.
    if (isText && lexeme === '') this.#before = this.#before.slice(1);
    else this.#before = [lexeme, ...this.#before.slice(0, 3)];
    return problem;
  }

  #textProblem(text: string): string | undefined {
    const isKey = this.#depth > 0 && text.startsWith('?');
    return isKey ? `"${text}" needs a blank after its question mark` : undefined;
  }

  #problem(lexeme: string): string | undefined {
    if (/^[[{]$/.test(lexeme)) this.#depth += 1;
    if (/^[\]}]$/.test(lexeme)) this.#depth -= 1;
    if (lexeme === byteOrderMark) return 'a byte order mark is amid the text';
    if (/^[&*](?![\w-]+$)/.test(lexeme)) {
      return `anchor ${lexeme} has other characters than letters, digits, "-" and "_"`;
    }
    const endsItem = lexeme === ',' || lexeme === ']' || lexeme === '}';
    return endsItem ? itemProblem(lexeme, this.#before) : undefined;
  }
}

/** What is wrong right before what ends an item of a flow collection. */
function itemProblem(end: string, [last = '', text, mark]: readonly string[]): string | undefined {
  if (last.startsWith('!') && end === ',') return `tag ${last} needs a blank after it`;
  if (last === ':' && mark === scalarMark) return `key ${text} needs a blank after its colon`;
  return undefined;
}
