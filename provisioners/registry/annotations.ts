import { type BundleFiles, parseYaml, TerminalError } from '../../core/sdk.ts';
import { Field } from './field.ts';

const path = 'metadata/annotations.yaml';
const packageKey = 'operators.operatorframework.io.bundle.package.v1';

/**
 * The package's name from the bundle's annotations; empty where they have none (spec section 9).
 * @throws TerminalError where the file is missing or is not what it has to be.
 */
export function readPackageName(files: BundleFiles, sourceType: string): string {
  const content = files.files.get(path);
  if (content === undefined) throw missing(sourceType);
  const annotations = new Field(parseYaml(decode(content)), '').get('annotations');
  return annotations.get(packageKey).coercedString();
}

function decode(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (error) {
    throw new TerminalError(`${path} is not UTF-8 text`, { cause: error });
  }
}

// Archives and other trees differ in RukPak's text for a file that is not there.
function missing(sourceType: string): TerminalError {
  const operation = sourceType === 'git' || sourceType === 'configMaps' ? 'open' : 'readfile';
  return new TerminalError(`${operation} ${path}: file does not exist`);
}
