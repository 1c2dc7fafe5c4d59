import { isMap, isScalar, isSeq, type Node, type ParsedNode } from 'yaml';
import { composeDocument, decodeYamlText, lineAt } from '../../core/manifests/index.ts';
import type { FieldPath } from './lint-model.ts';

/** Larger blobs take seconds to compose: their findings have the line of the blob. */
const largest = 2 * 1024 * 1024;

/**
 * Tells the lines of the fields of a blob; of one that is not there, the line of the nearest around it.
 * JSON is YAML too, but for tabs.
 */
export function lineOfField(
  content: Uint8Array,
  firstLine: number,
): ((path: FieldPath) => number) | undefined {
  if (content.byteLength > largest) return undefined;
  try {
    const text = decodeYamlText(content).replaceAll('\t', ' ');
    const root = composeDocument(text, firstLine)?.contents ?? null;
    return (path) => lineAt(text, offsetOf(root, path), firstLine);
  } catch {
    // What the reader of catalogs takes, and YAML does not, has the line of its blob.
    return undefined;
  }
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
