import { Document } from 'yaml';

/** Writes objects as YAML documents, each preceded by a `---` line. */
export function toYaml(objects: readonly object[]): string {
  return objects.map((object) => `---\n${new Document(object).toString()}`).join('');
}
