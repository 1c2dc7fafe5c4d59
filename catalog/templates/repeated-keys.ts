import { isMap, isScalar, isSeq, type Node, type ParsedNode } from 'yaml';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import { composeDocument, decodeYamlText, lineAt } from '../../core/manifests/index.ts';

/**
 * Refuses a document with a key that occurs twice in a mapping: only the last one would count.
 * @throws TerminalError in opm's words, with the line of each repeated key's value
 */
export function checkRepeatedKeys(content: Uint8Array): void {
  const text = decodeYamlText(content);
  const found = [...repeatedKeys(composeDocument(text, 1)?.contents)];
  if (found.length === 0) return;
  const lines = found.map(
    ({ key, offset }) =>
      `\n  line ${lineAt(text, offset, 1)}: key ${goQuote(key)} already set in map`,
  );
  throw new TerminalError(
    `error converting YAML to JSON: yaml: unmarshal errors:${lines.join('')}`,
  );
}

interface RepeatedKey {
  readonly key: string;
  /** Where its value starts. */
  readonly offset: number;
}

/** In the order in which opm finds them: those of a value before the key of that value. */
function* repeatedKeys(node: Node | null | undefined): Generator<RepeatedKey> {
  if (isSeq<ParsedNode>(node)) {
    for (const item of node.items) yield* repeatedKeys(item);
  }
  if (!isMap<ParsedNode, ParsedNode | null>(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    yield* repeatedKeys(value);
    const name = isScalar(key) ? String(key.value) : '';
    if (seen.has(name)) yield { key: name, offset: (value ?? key).range[0] };
    seen.add(name);
  }
}
