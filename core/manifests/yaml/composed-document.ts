import { Composer, type CST, type Document, isScalar, Lexer, Parser, Schema } from 'yaml';
import { Dialect } from './dialect.ts';
import { indentQuotedLines } from './indent-quoted-lines.ts';
import { lineAt, maxNesting, yamlError } from './yaml-error.ts';

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
