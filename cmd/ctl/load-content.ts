import type { BundleFiles, ContentLimits } from '../../core/contracts/bundle-files.ts';
import { loadDirectory } from './load-directory.ts';

/**
 * Content by what a person types: a directory where one exists on disk.
 * @throws TerminalError that names what was typed.
 */
export function loadContent(reference: string, limits: ContentLimits): BundleFiles {
  return loadDirectory(reference, limits);
}
