import type { CST, Document, Schema } from 'yaml';
import { indentQuotedLines } from './indent-quoted-lines.ts';
import { isScalar, yamlPackage } from './yaml-package.ts';
import { lineAt, maxNesting, yamlError } from './yaml-text.ts';

/**
 * Composes the first document of a text with the `yaml` package; undefined without one. Scalars
 * keep their text, which the caller must resolve.
 * @throws TerminalError at the first error.
 */
export function composeDocument(text: string, firstLine: number): Document.Parsed | undefined {
  const first = compose(text);
  if (!(first instanceof Problem)) return first;
  const indented = indentQuotedLines(text);
  const second = indented === text ? first : compose(indented);
  if (!(second instanceof Problem)) return second;
  throw yamlError(second.message, lineAt(indented, second.offset, firstLine));
}

/**
 * An error with its position. Thrown to stop the composer at once, which would otherwise collect
 * more.
 */
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

let schema: Schema | undefined;

function failsafeSchema(): Schema {
  if (schema !== undefined) return schema;
  schema = new (yamlPackage().Schema)({ schema: 'failsafe', resolveKnownTags: false });
  // In a plain object the package would find `!<constructor>` as a tag.
  schema.knownTags = Object.create(null);
  return schema;
}

function firstDocument(text: string): Document.Parsed | undefined {
  const { Composer } = yamlPackage();
  const composer = new Composer({
    version: '1.1',
    schema: failsafeSchema(),
    uniqueKeys: false,
    strict: false,
  });
  Object.assign(composer, { onError: firstProblemThrower() });
  for (const token of tokens(text)) {
    for (const document of composer.next(token)) return checked(document);
    if (token.type !== 'error') continue;
    for (const document of composer.end()) return checked(document);
    // Otherwise a text that starts with invalid YAML would count as an empty document.
    throw new Problem(token.message, token.offset);
  }
  for (const document of composer.end()) return checked(document);
  return undefined;
}

type ErrorSource = number | readonly number[] | { readonly offset: number };
/** The error's position, code and message, and whether it is only a warning. */
type ErrorDetails = readonly [ErrorSource, string, string, boolean?];

// The composer catches a thrown error and reports it again on each level: the first one counts.
function firstProblemThrower(): (...details: ErrorDetails) => void {
  let first: Problem | undefined;
  return (...[source, , message, isWarning = false]) => {
    if (isWarning) return;
    const place = Array.isArray(source) ? source[0] : source;
    first ??= new Problem(message, typeof place === 'object' ? place.offset : (place ?? 0));
    throw first;
  };
}

// After a scalar, Go's parser ends the document and reads no further.
function checked(document: Document.Parsed): Document.Parsed {
  const [error] = document.errors;
  if (error === undefined || isScalar(document.contents)) return document;
  throw new Problem(error.message, error.pos[0]);
}

// Lexeme by lexeme, so that nesting is limited before anything recurses over it.
function* tokens(text: string): Generator<CST.Token> {
  const { Lexer, Parser } = yamlPackage();
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

/** The package's mark before the text of a plain or block scalar. */
const scalarMark = '\x1f';
const byteOrderMark = '\ufeff';

/**
 * Refuses lexemes that the `yaml` package reads and kubectl reads differently or not at all:
 * otherwise the text would mean something else to users of kubectl (docs/adr/0002).
 */
class Dialect {
  /** The last lexemes, the newest first. */
  #before: readonly string[] = [];
  /** Number of open brackets and braces. */
  #depth = 0;

  problemOf(lexeme: string): string | undefined {
    const isText = this.#before[0] === scalarMark;
    const problem = isText ? this.#textProblem(lexeme) : this.#problem(lexeme);
    // An empty scalar has no text.
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

/** The problem right before the end of an item of a flow collection. */
function itemProblem(end: string, [last = '', text, mark]: readonly string[]): string | undefined {
  if (last.startsWith('!') && end === ',') return `tag ${last} needs a blank after it`;
  if (last === ':' && mark === scalarMark) return `key ${text} needs a blank after its colon`;
  return undefined;
}
