import { Composer, type CST, type Document, isScalar, Lexer, Parser, Schema } from 'yaml';
import { indentQuotedLines } from './indent-quoted-lines.ts';
import { lineAt, maxNesting, yamlError } from './yaml-text.ts';

/**
 * Composes the first document of a text with the `yaml` package; undefined where there is none.
 * Scalars keep their text: what they mean is for the caller to resolve.
 * @throws TerminalError at the first thing that is not YAML.
 */
export function composeDocument(text: string, firstLine: number): Document.Parsed | undefined {
  const first = compose(text);
  if (!(first instanceof Problem)) return first;
  const indented = indentQuotedLines(text);
  const second = indented === text ? first : compose(indented);
  if (!(second instanceof Problem)) return second;
  throw yamlError(second.message, lineAt(indented, second.offset, firstLine));
}

/** What is wrong with a text, and where. Stops the composer at once: it would go on collecting. */
class Problem extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

function compose(text: string): Document.Parsed | Problem | undefined {
  try {
    return firstDocument(text);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const schema = new Schema({ schema: 'failsafe', resolveKnownTags: false });
// Of a plain object the package would take what `!<constructor>` finds for a tag.
schema.knownTags = Object.create(null);

const options = {
  version: '1.1',
  schema,
  uniqueKeys: false,
  strict: false,
} as const;

function firstDocument(text: string): Document.Parsed | undefined {
  const composer = new Composer(options);
  Object.assign(composer, { onError: firstProblemThrower() });
  for (const token of tokens(text)) {
    for (const document of composer.next(token)) return checked(document);
    if (token.type !== 'error') continue;
    for (const document of composer.end()) return checked(document);
    // A text that begins with what is no YAML is no empty document, which would be passed over.
    throw new Problem(token.message, token.offset);
  }
  for (const document of composer.end()) return checked(document);
  return undefined;
}

type ErrorSource = number | readonly number[] | { readonly offset: number };
/** The error's source, its code, its message, and whether it is a mere warning. */
type ErrorDetails = readonly [ErrorSource, string, string, boolean?];

// The composer catches what it throws and reports it again, level by level: the first one counts.
function firstProblemThrower(): (...details: ErrorDetails) => void {
  let first: Problem | undefined;
  return (...[source, , message, isWarning = false]) => {
    if (isWarning) return;
    const place = Array.isArray(source) ? source[0] : source;
    first ??= new Problem(message, typeof place === 'object' ? place.offset : (place ?? 0));
    throw first;
  };
}

// After a scalar, Go's reader sees the document's end and looks no further.
function checked(document: Document.Parsed): Document.Parsed {
  const [error] = document.errors;
  if (error === undefined || isScalar(document.contents)) return document;
  throw new Problem(error.message, error.pos[0]);
}

// Fed lexeme by lexeme, so that nesting is bounded before anything recurses over it.
function* tokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  const dialect = new Dialect();
  for (const lexeme of new Lexer().lex(text)) {
    const problem = dialect.problemOf(lexeme);
    if (problem !== undefined) throw new Problem(problem, parser.offset);
    yield* parser.next(lexeme);
    if (parser.stack.length > maxNesting + 2) {
      throw new Problem(`exceeded max depth of ${maxNesting}`, parser.offset);
    }
  }
  yield* parser.end();
}

/** The package's, before the text of a plain or block scalar. */
const scalarMark = '\x1f';
const byteOrderMark = '\ufeff';

/**
 * Finds what the `yaml` package reads and kubectl reads otherwise, or not at all, in the lexemes of a
 * text: it would mean something else to those who apply it with kubectl (docs/adr/0002).
 */
class Dialect {
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
