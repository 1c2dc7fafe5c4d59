import { type BundleFiles, TerminalError } from '../core/sdk.ts';
import { isChart } from './helm/index.ts';

const prefix = 'core-rukpak-io-';

export const plainClass = `${prefix}plain`;
export const helmClass = `${prefix}helm`;
export const registryClass = `${prefix}registry`;

/** Full names of the classes that come with the program. */
export const builtInClasses: readonly string[] = [plainClass, registryClass, helmClass];

/**
 * The full name of a class from a user's short name, or detected from the content.
 * @throws TerminalError for a class that cannot be rendered.
 */
export function classNameOf(files: BundleFiles, className = detectClass(files)): string {
  const found = builtInClasses.find(
    (name) => name === className || name === `${prefix}${className}`,
  );
  if (found !== undefined) return found;
  throw new TerminalError(
    `class "${className}" cannot be rendered: use ${builtInClasses.join(' or ')}`,
  );
}

function detectClass(files: BundleFiles): string {
  if (files.files.has('metadata/annotations.yaml')) return registryClass;
  return isChart(files) ? helmClass : plainClass;
}
