import {
  Composer,
  type CST,
  type Document,
  isScalar,
  Lexer,
  Parser,
  type YAMLParseError,
} from 'yaml';
import { indentQuotedLines } from './indent-quoted-lines.ts';
import { lineAt, maxNesting, nestingError, yamlError } from './yaml-error.ts';

/**
 * Composes the first document of a text with the `yaml` package; undefined where there is none.
 * Scalars keep their text: what they mean is for the caller to resolve.
 * @throws TerminalError at the first thing that is not YAML.
 */
export function composeDocument(text: string, firstLine: number): Document.Parsed | undefined {
  const document = firstDocument(text, firstLine);
  if (document === undefined || firstError(document) === undefined) return document;
  const indented = indentQuotedLines(text);
  const again = firstDocument(indented, firstLine);
  const error = again && firstError(again);
  if (error !== undefined)
    throw yamlError(error.message, lineAt(indented, error.pos[0], firstLine));
  return again;
}

// After a scalar, Go's reader sees the document's end and looks no further.
function firstError({ contents, errors }: Document.Parsed): YAMLParseError | undefined {
  return errors.find((error) => !(isScalar(contents) && error.code === 'UNEXPECTED_TOKEN'));
}

const options = {
  version: '1.1',
  schema: 'failsafe',
  resolveKnownTags: false,
  uniqueKeys: false,
  strict: false,
} as const;

function firstDocument(text: string, firstLine: number): Document.Parsed | undefined {
  const composer = new Composer(options);
  for (const token of tokens(text, firstLine)) {
    for (const document of composer.next(token)) return document;
  }
  for (const document of composer.end()) return document;
  return undefined;
}

// Fed lexeme by lexeme, so that nesting is bounded before anything recurses over it.
function* tokens(text: string, firstLine: number): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > maxNesting + 2) {
      throw nestingError(lineAt(text, parser.offset, firstLine));
    }
  }
  yield* parser.end();
}
