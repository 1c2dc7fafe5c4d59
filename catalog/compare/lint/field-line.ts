import { isMap, isScalar, isSeq, type Node, type ParsedNode } from 'yaml';
import { composeDocument, decodeYamlText, lineAt } from '../../../core/manifests/index.ts';
import type { FieldPath } from './lint-model.ts';

/**
 * Maximum bytes of a blob. Larger ones take seconds to compose: their fields get the line of the
 * blob.
 */
const largest = 2 * 1024 * 1024;

/** The lines of the fields of a blob. Composes the blob at the first request for a field. */
export class FieldLines {
  readonly #content: Uint8Array;
  readonly #firstLine: number;
  #lineOf: ((path: FieldPath) => number) | undefined;

  constructor(content: Uint8Array, firstLine: number) {
    this.#content = content;
    this.#firstLine = firstLine;
  }

  /**
   * The line of a field, or of its nearest existing parent; without a path, the line of the blob.
   */
  of(path: FieldPath | undefined): number {
    if (path === undefined) return this.#firstLine + linesBefore(this.#content);
    this.#lineOf ??= composedLines(this.#content, this.#firstLine);
    return this.#lineOf?.(path) ?? this.of(undefined);
  }
}

/** Undefined for large or invalid YAML. JSON is YAML too, except for tabs. */
function composedLines(
  content: Uint8Array,
  firstLine: number,
): ((path: FieldPath) => number) | undefined {
  if (content.byteLength > largest) return undefined;
  try {
    const text = decodeYamlText(content).replaceAll('\t', ' ');
    const root = composeDocument(text, firstLine)?.contents ?? null;
    return (path) => lineAt(text, offsetOf(root, path), firstLine);
  } catch {
    return undefined;
  }
}

/** Number of blank lines and comments at the start. */
function linesBefore(content: Uint8Array): number {
  const start = Buffer.from(content.buffer, content.byteOffset, Math.min(content.byteLength, 4096));
  const lines = start.toString('latin1').split('\n');
  const first = lines.findIndex((line) => !/^\s*(?:#.*)?$/.test(line));
  return Math.max(first, 0);
}

function offsetOf(root: Node | null, path: FieldPath): number {
  let node: Node | null | undefined = root;
  let offset = startOf(node);
  for (const part of path) {
    const found = fieldOf(node, part);
    if (found === undefined) break;
    offset = startOf(found.key ?? found.value) || offset;
    node = found.value;
  }
  return offset;
}

interface Field {
  readonly key?: Node;
  readonly value: Node | null;
}

function fieldOf(node: Node | null | undefined, part: string | number): Field | undefined {
  if (isSeq<ParsedNode>(node)) {
    const item = node.items[Number(part)];
    return item === undefined ? undefined : { value: item };
  }
  if (!isMap<ParsedNode, ParsedNode | null>(node)) return undefined;
  const pair = node.items.findLast(
    ({ key }) => isScalar(key) && String(key.value).toLowerCase() === String(part).toLowerCase(),
  );
  return pair === undefined ? undefined : { key: pair.key, value: pair.value };
}

function startOf(node: Node | null | undefined): number {
  return node?.range?.[0] ?? 0;
}
