import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import { BundleFilesBuilder } from './bundle-files-builder.ts';

/**
 * Refuses with a TerminalError a tree that passes a limit: it could be stored, but never loaded.
 */
export function checkFiles({ files, directories }: BundleFiles, limits: ContentLimits): void {
  const builder = new BundleFilesBuilder(limits);
  for (const path of directories) builder.addDirectory(path);
  for (const [path, content] of files) builder.addFile(path, content);
}
