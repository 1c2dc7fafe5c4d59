import { stringifyJson } from '../../api/json.ts';
import { escapedForYaml } from './yaml/write-scalar.ts';

/**
 * Writes objects as JSON documents, one a line: YAML like any other to `parseManifests`, and written
 * and read in a fraction of the time. For content that nobody looks at.
 */
export function toJsonDocuments(objects: readonly object[]): string {
  return objects.map((object) => `${escapedForYaml(stringifyJson(object))}\n`).join('');
}
