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
  /** Which of the file's documents that are not empty, from 0; -1 where the file as such is meant. */
  readonly document: number;
  readonly path: FieldPath;
  /** A line of the text that the field is, from 1; heeded where it is written line by line. */
  readonly textLine?: number;
}

/**
 * Tells the lines that fields are written on. A file is read for it when the first of its fields is
 * asked for: most bundles have nothing to say of most files.
 */
export class SourceLines {
  readonly #files: BundleFiles;
  readonly #listsCountAsItems: boolean;
  readonly #sources = new Map<string, readonly ObjectSource[]>();

  constructor(files: BundleFiles, options: SourceLinesOptions = {}) {
    this.#files = files;
    this.#listsCountAsItems = options.listsCountAsItems ?? false;
  }

  /** The line of a field, or of what is nearest above it and there; undefined where none is known. */
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
  /** Documents are counted as in plain bundles, where a list is what it holds. */
  readonly listsCountAsItems?: boolean;
}

interface ObjectSource {
  readonly text: string;
  readonly firstLine: number;
  readonly document: Document.Parsed;
  /** The object in it. */
  readonly root: Node | null;
}

function itemsOf(source: ObjectSource): readonly ObjectSource[] {
  const items = child(source.root, 'items')?.value;
  if (!isSeq(items)) return [source];
  return items.items.flatMap((item) => itemsOf({ ...source, root: isNode(item) ? item : null }));
}

/** None where the file cannot be read: that is said elsewhere, with the line. */
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

/** JSON is YAML but for tabs, and for objects that follow each other. */
function* pieces(text: string): Generator<Piece> {
  const { documents, end } = /^\s*\{/.test(text) ? readJsonStream(text) : { documents: [], end: 0 };
  let [from, counted, firstLine] = [0, 0, 1];
  for (const { text: json } of documents) {
    const start = text.indexOf(json, from);
    // From the one before on: a file may have thousands.
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
  /** Undefined where the field itself is not there. */
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
  // As the content is read: the last one counts, and of typed fields the case does not.
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
