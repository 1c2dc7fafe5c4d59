import { isMap, isScalar, isSeq, type Node, type ParsedNode } from 'yaml';
import {
  composeDocument,
  decodeYamlText,
  lineAt,
  splitDocuments,
} from '../../../core/manifests/index.ts';

/**
 * The line, from 1, of a field in a YAML file; for a missing field, that of its nearest existing
 * parent. JSON is YAML too.
 */
export function lineOfField(content: Uint8Array | string, path: readonly PropertyKey[]): number {
  const [document] = splitDocuments(decodeYamlText(content));
  if (document === undefined) return 1;
  let node: Node | null | undefined = composeDocument(document.text, document.firstLine)?.contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    const found = fieldOf(node, part);
    if (found === undefined) break;
    offset = found.offset ?? offset;
    node = found.node;
  }
  return lineAt(document.text, offset, document.firstLine);
}

interface Field {
  readonly node: Node | null;
  /** Offset of its key in a map, or of the item in a list. */
  readonly offset: number | undefined;
}

function fieldOf(node: Node | null | undefined, part: PropertyKey): Field | undefined {
  if (isSeq<ParsedNode>(node)) {
    const item = node.items[Number(part)];
    return item === undefined ? undefined : { node: item, offset: startOf(item) };
  }
  if (!isMap<ParsedNode, ParsedNode | null>(node)) return undefined;
  // Of a duplicate key, the last one counts.
  const pair = node.items.findLast(({ key }) => isScalar(key) && String(key.value) === part);
  return pair === undefined ? undefined : { node: pair.value, offset: startOf(pair.key) };
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}
