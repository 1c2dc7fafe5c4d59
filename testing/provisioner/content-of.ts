import type { BundleFiles } from '../../core/sdk.ts';
import { bundleFiles } from '../builders/bundle-files.ts';
import type { AcceptedContent } from './fixtures.ts';

/** A fixture's content, of which nobody else has a byte. */
export function contentOf({ files }: Pick<AcceptedContent, 'files'>): BundleFiles {
  const content = isContent(files) ? files : bundleFiles(files);
  return {
    files: new Map([...content.files].map(([path, bytes]) => [path, Uint8Array.from(bytes)])),
    directories: new Set(content.directories),
  };
}

function isContent(files: AcceptedContent['files']): files is BundleFiles {
  return files['files'] instanceof Map;
}
