import { type BundleFiles, errorMessage, parseYaml, TerminalError } from '../../core/sdk.ts';
import { Field } from './csv/field.ts';

const path = 'metadata/annotations.yaml';
const packageKey = 'operators.operatorframework.io.bundle.package.v1';

/**
 * The package's name from the bundle's annotations; empty where they have none.
 * @throws TerminalError where the file is missing or is not what it has to be.
 */
export function readPackageName(files: BundleFiles, sourceType: string): string {
  const content = files.files.get(path);
  if (content === undefined) throw missing(sourceType);
  try {
    const annotations = new Field(parseYaml(content), '').get('annotations');
    return annotations.get(packageKey).coercedString();
  } catch (error) {
    throw new TerminalError(`${path}: ${errorMessage(error)}`, { cause: error });
  }
}

// Archives and other trees differ in RukPak's text for a file that is not there.
function missing(sourceType: string): TerminalError {
  const operation = sourceType === 'git' || sourceType === 'configMaps' ? 'open' : 'readfile';
  return new TerminalError(`${operation} ${path}: file does not exist`);
}
