import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import {
  composeDocument,
  decodeYamlText,
  indentQuotedLines,
  lineAt,
  readJsonStream,
  splitDocuments,
} from '../../core/manifests/index.ts';

/** Keys and indexes that lead from a document's root to a field. */
export type FieldPath = readonly (string | number)[];

/** A field of an object in a file. */
export interface FieldPlace {
  readonly file: string;
  /** Index of the file's document, without empty ones, from 0; -1 for the file as a whole. */
  readonly document: number;
  readonly path: FieldPath;
  /** A line of the field's text, from 1; used only for a block literal. */
  readonly textLine?: number;
}

/**
 * Finds the lines of fields. Parses a file when one of its fields is first requested, because most
 * files have no findings.
 */
export class SourceLines {
  readonly #files: BundleFiles;
  readonly #listsCountAsItems: boolean;
  readonly #sources = new Map<string, readonly ObjectSource[]>();

  constructor(files: BundleFiles, options: SourceLinesOptions = {}) {
    this.#files = files;
    this.#listsCountAsItems = options.listsCountAsItems ?? false;
  }

  /** Line of the field, or of its nearest existing parent; undefined if unknown. */
  lineOf({ file, document, path, textLine = 0 }: FieldPlace): number | undefined {
    const source = this.#documentsOf(file)[document];
    if (source === undefined) return undefined;
    const { offset, node } = nodeAt(source, path);
    const line = lineAt(source.text, offset, source.firstLine);
    return isScalar(node) && node.type === 'BLOCK_LITERAL' ? line + textLine : line;
  }

  #documentsOf(file: string): readonly ObjectSource[] {
    const known = this.#sources.get(file);
    if (known !== undefined) return known;
    const content = this.#files.files.get(file);
    const documents = content === undefined ? [] : documentSources(content);
    const read = this.#listsCountAsItems ? documents.flatMap(itemsOf) : documents;
    this.#sources.set(file, read);
    return read;
  }
}

interface SourceLinesOptions {
  /** Count documents as in plain bundles, where a list counts as its items. */
  readonly listsCountAsItems?: boolean;
}

interface ObjectSource {
  readonly text: string;
  readonly firstLine: number;
  readonly document: Document.Parsed;
  /** Node of the object in the document. */
  readonly root: Node | null;
}

function itemsOf(source: ObjectSource): readonly ObjectSource[] {
  const items = child(source.root, 'items')?.value;
  if (!isSeq(items)) return [source];
  return items.items.flatMap((item) => itemsOf({ ...source, root: isNode(item) ? item : null }));
}

/** Empty for an unreadable file, which another problem reports with the line. */
function documentSources(content: Uint8Array): readonly ObjectSource[] {
  try {
    return [...pieces(decodeYamlText(content))].flatMap(({ text, firstLine }) => {
      const indented = indentQuotedLines(text);
      const document = composeDocument(indented, firstLine);
      return isEmpty(document)
        ? []
        : [{ text: indented, firstLine, document, root: document.contents }];
    });
  } catch {
    return [];
  }
}

function isEmpty(document: Document.Parsed | undefined): document is undefined {
  const contents = document?.contents ?? null;
  if (contents === null) return true;
  return isScalar(contents) && /^(?:~|null|Null|NULL|)$/.test(contents.source ?? '');
}

interface Piece {
  readonly text: string;
  readonly firstLine: number;
}

/** JSON is YAML except for tabs, and for objects that follow each other. */
function* pieces(text: string): Generator<Piece> {
  const { documents, end } = /^\s*\{/.test(text) ? readJsonStream(text) : { documents: [], end: 0 };
  let [from, counted, firstLine] = [0, 0, 1];
  for (const { text: json } of documents) {
    const start = text.indexOf(json, from);
    // Counts lines from the previous document on: a file may have thousands of documents.
    firstLine = lineAt(text.slice(counted, start), start - counted, firstLine);
    yield { text: json.replaceAll('\t', ' '), firstLine };
    [from, counted] = [start + json.length, start];
  }
  const left = lineAt(text, end, 1);
  for (const piece of splitDocuments(text.slice(end))) {
    yield { text: piece.text, firstLine: left + piece.firstLine - 1 };
  }
}

interface FoundNode {
  readonly offset: number;
  /** Undefined if the field is absent. */
  readonly node: Node | null | undefined;
}

function nodeAt({ document, root }: ObjectSource, path: FieldPath): FoundNode {
  let node = root;
  let offset = startOf(node);
  for (const step of path) {
    const next = child(followed(node, document), step);
    if (next === undefined) return { offset, node: undefined };
    offset = startOf(next.key ?? next.value) || offset;
    node = next.value;
  }
  return { offset, node };
}

interface Child {
  readonly key?: Node;
  readonly value: Node | null;
}

function child(node: Node | null, step: string | number): Child | undefined {
  if (isSeq(node) && typeof step === 'number') {
    const value = node.items[step];
    return isNode(value) ? { value } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pairs = node.items as Pair<Node, Node | null>[];
  const name = String(step);
  // Like the reader of the content: the last key wins, and typed fields match in any case.
  const found =
    pairs.findLast(({ key }) => textOf(key) === name) ??
    pairs.findLast(({ key }) => textOf(key).toLowerCase() === name.toLowerCase());
  return found && { key: found.key, value: found.value };
}

function textOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

function followed(node: Node | null, document: Document.Parsed): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node;
}

function startOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}
