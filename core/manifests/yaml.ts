import type { JsonValue } from '../../api/json.ts';
import { readBlockStyle } from './yaml/block-style/block-reader.ts';
import { composeDocument } from './yaml/composed-document.ts';
import { NodeReader } from './yaml/node-reader.ts';
import { decodeYamlText } from './yaml/yaml-text.ts';

/**
 * Reads the first YAML document of a text as kubectl reads it: YAML 1.1 as Go's sigs.k8s.io/yaml
 * has it. Null where there is no document.
 * @throws TerminalError `error converting YAML to JSON: …`, with the line where one is to blame.
 */
export function parseYaml(content: Uint8Array | string): JsonValue {
  return readYamlDocument(decodeYamlText(content), 1);
}

/** YAML 1.1 has one more character that ends a line; kubectl finds documents before it matters. */
function withPlainBreaks(text: string): string {
  return text.includes(nextLine) ? text.replaceAll(nextLine, '\n') : text;
}

const nextLine = '\x85';

/** Reads one document of text that is already decoded; `firstLine` is its first line's number. */
export function readYamlDocument(written: string, firstLine: number): JsonValue {
  const text = withPlainBreaks(written);
  const read = readBlockStyle(text);
  if (read !== undefined) return read.value;
  return new NodeReader().read(composeDocument(text, firstLine)?.contents);
}
