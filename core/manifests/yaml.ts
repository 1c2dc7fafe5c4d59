import { parseAllDocuments } from 'yaml';
import type { JsonValue } from '../../api/json.ts';

/** Parses one YAML document in kubectl's dialect. */
export function parseYaml(text: string): JsonValue {
  const [document] = parseAllDocuments(text, { uniqueKeys: false, merge: true });
  return (document?.toJS() as JsonValue | undefined) ?? null;
}
