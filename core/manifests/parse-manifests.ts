import type { KubernetesObject } from '../../api/meta.ts';
import { TerminalError } from '../errors.ts';
import { parseYaml } from './yaml.ts';

/**
 * Reads the objects of one manifest file as kubectl does: YAML or JSON, any number of documents,
 * lists flattened, empty documents skipped (spec section 8.1).
 * @throws TerminalError that names the path, without a prefix for the step it belongs to.
 */
export function parseManifests(path: string, content: Uint8Array): KubernetesObject[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  return text
    .split(/^---$/m)
    .map((document) => parseYaml(document))
    .filter((value) => value !== null)
    .map((value) => {
      if (typeof value !== 'object' || !('kind' in value)) {
        throw new TerminalError(`unable to decode "${path}"`);
      }
      return value as unknown as KubernetesObject;
    });
}
