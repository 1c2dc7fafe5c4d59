import { Composer, type Document, Lexer, Parser } from 'yaml';
import { indentQuotedLines } from './indent-quoted-lines.ts';
import { lineAt, maxNesting, nestingError, yamlError } from './yaml-error.ts';

export interface ComposedDocument {
  readonly document: Document.Parsed;
  readonly text: string;
}

/**
 * Composes the first document of a text with the `yaml` package; undefined where there is none.
 * Scalars keep their text: what they mean is for the caller to resolve.
 * @throws TerminalError at the first thing that is not YAML.
 */
export function composeDocument(text: string, firstLine: number): ComposedDocument | undefined {
  const document = firstDocument(text, firstLine);
  if (document === undefined) return undefined;
  const [error] = document.errors;
  if (error === undefined) return { document, text };
  const indented = indentQuotedLines(text);
  if (indented === text) throw yamlError(error.message, lineAt(text, error.pos[0], firstLine));
  return composeIndented(indented, firstLine);
}

function composeIndented(text: string, firstLine: number): ComposedDocument | undefined {
  const document = firstDocument(text, firstLine);
  if (document === undefined) return undefined;
  const [error] = document.errors;
  if (error !== undefined) throw yamlError(error.message, lineAt(text, error.pos[0], firstLine));
  return { document, text };
}

const options = {
  version: '1.1',
  schema: 'failsafe',
  resolveKnownTags: false,
  uniqueKeys: false,
  strict: false,
} as const;

// Fed token by token, so that nesting is bounded before anything recurses over it.
function firstDocument(text: string, firstLine: number): Document.Parsed | undefined {
  const parser = new Parser();
  const composer = new Composer(options);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      for (const document of composer.next(token)) return document;
    }
    if (parser.stack.length > maxNesting + 2)
      throw nestingError(lineAt(text, parser.offset, firstLine));
  }
  for (const token of parser.end()) {
    for (const document of composer.next(token)) return document;
  }
  for (const document of composer.end()) return document;
  return undefined;
}
