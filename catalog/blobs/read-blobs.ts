import type { JsonValue } from '../../api/json.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { parseYaml } from '../../core/manifests/index.ts';
import type { Blob, BlobPlace } from './blob.ts';
import { errorAt } from './blob-error.ts';
import { checkBlobSize } from './blob-size.ts';
import { blobOfDecoded, missingSchema, objectOf, withSchema } from './blob-value.ts';
import { nextChunk, type YamlChunk } from './go-yaml/yaml-chunks.ts';
import { jsonSyntaxError } from './json/json-syntax.ts';
import { type JsonPiece, JsonPieces, OversizedValue } from './json/json-values.ts';
import { withGoNumbers } from './json/numbers.ts';

/** Number of bytes in which opm looks for the brace that makes a file JSON. */
const peeked = 4096;

/**
 * The blobs of one file of a catalog, in order: JSON values one after another, YAML documents, or
 * one JSON value and then YAML, as opm reads them.
 * @throws BlobError with opm's text, and the line of the faulty blob.
 */
export function* readBlobs(file: string, content: Uint8Array): Generator<Blob> {
  for (const blob of readObjects(file, content)) yield withSchema(blob);
}

/** The same, but also objects without a schema; their schema is empty. */
export function* readObjects(file: string, content: Uint8Array): Generator<Blob> {
  const reader = new FileReader(file, content);
  const start = startOfValue(reader.bytes, 0);
  const isJson = start < peeked && reader.bytes[start] === 0x7b;
  yield* isJson ? reader.json() : reader.yaml(0);
}

class FileReader {
  readonly bytes: Buffer;
  /** The same: Buffer's own search, which takes texts too, takes twice as long for a line. */
  readonly #plain: Uint8Array;
  readonly #file: string;
  /** Offset up to which lines are counted, and the line there. */
  #counted = 0;
  #line = 1;

  constructor(file: string, content: Uint8Array) {
    this.#file = file;
    this.bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    this.#plain = new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  }

  *json(): Generator<Blob> {
    const { bytes } = this;
    const pieces = new JsonPieces(bytes);
    let count = 0;
    let behind = 0;
    for (let at = startOfValue(bytes, 0); at < bytes.length; at = startOfValue(bytes, behind)) {
      const piece = this.#pieceAt(pieces, at);
      if (piece === undefined) {
        const problem = syntaxProblem(bytes, at);
        const place = this.#placeOf(at, bytes.length);
        // After two values the file is certainly JSON; after fewer, the rest may be YAML.
        if (count > 1) throw errorAt(new TerminalError(problem.text), place);
        yield* this.yaml(behindLineBreak(bytes, behind), problem.inStream);
        return;
      }
      yield this.#jsonBlob(piece.value as JsonValue, this.#placeOf(at, piece.end));
      count += 1;
      behind = piece.end;
    }
  }

  #pieceAt(pieces: JsonPieces, start: number): JsonPiece | undefined {
    try {
      return pieces.at(start);
    } catch (error) {
      if (!(error instanceof OversizedValue)) throw error;
      checkBlobSize(this.#placeOf(start, start + error.bytes));
      throw error;
    }
  }

  #jsonBlob(value: JsonValue, place: BlobPlace): Blob {
    return at(place, () => {
      if (value === null) throw new TerminalError(missingSchema('null\n'));
      return blobOfDecoded(objectOf(withGoNumbers(value)), place);
    });
  }

  /** `inJson` is the error of the first document as JSON: it is thrown if YAML fails, too. */
  *yaml(from: number, inJson?: string): Generator<Blob> {
    let earlier = inJson;
    for (let chunk = this.#chunkAt(from); chunk !== undefined; chunk = this.#chunkAt(chunk.next)) {
      const { start, end } = chunk;
      const problem = earlier;
      const place = this.#placeOf(start, end);
      checkBlobSize(place);
      yield at(place, () => yamlBlob(this.bytes.subarray(start, end), place, problem));
      earlier = undefined;
    }
  }

  #chunkAt(from: number): YamlChunk | undefined {
    try {
      return nextChunk(this.bytes, from);
    } catch (error) {
      throw errorAt(error, this.#placeOf(from, from));
    }
  }

  #placeOf(start: number, end: number): BlobPlace {
    for (;;) {
      const found = this.#plain.indexOf(0x0a, this.#counted);
      if (found === -1 || found >= start) break;
      this.#line += 1;
      this.#counted = found + 1;
    }
    return { file: this.#file, start, end, line: this.#line };
  }
}

function at<T>(place: BlobPlace, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw errorAt(error, place);
  }
}

function yamlBlob(bytes: Buffer, place: BlobPlace, inJson: string | undefined): Blob {
  try {
    const value = parseYaml(bytes);
    if (value === null && bytes[0] === 0x25) throw new TerminalError(loneDirective);
    // For null, Go leaves its target unchanged, so there is no text to show.
    if (value === null) throw new UnreadNull();
    return inYaml(() => blobOfDecoded(objectOf(withGoNumbers(value)), place));
  } catch (error) {
    if (error instanceof UnreadNull) throw new TerminalError(missingSchema(''));
    throw inJson === undefined ? error : new TerminalError(inJson, { cause: error });
  }
}

/** opm splits a stream before it looks for directives. */
const loneDirective =
  'error converting YAML to JSON: yaml: line 1: did not find expected <document start>';

class UnreadNull extends Error {}

function inYaml<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const text = `error unmarshaling JSON: while decoding JSON: ${errorMessage(error)}`;
    throw new TerminalError(text, { cause: error });
  }
}

interface SyntaxProblem {
  readonly text: string;
  /** The text if opm tries YAML next. */
  readonly inStream: string;
}

/** Go's error for text that is not a JSON value. */
function syntaxProblem(bytes: Buffer, start: number): SyntaxProblem {
  const error = jsonSyntaxError(bytes, start);
  if (error === undefined) return { text: 'unexpected EOF', inStream: 'unexpected EOF' };
  return { text: error.text, inStream: `json: offset ${error.offset}: ${error.text}` };
}

const blanks = new Set([0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d]);

function startOfValue(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && blanks.has(bytes[at] ?? 0)) at += 1;
  return at;
}

/** Offset after the next line break in the white space; without one, of the next value. */
function behindLineBreak(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length && blanks.has(bytes[at] ?? 0); at += 1) {
    if (bytes[at] === 0x0a) return at + 1;
  }
  return startOfValue(bytes, from);
}
