import type { BundleFiles } from '../contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import {
  type ManifestFile,
  type ReadManifestsOptions,
  readManifestFiles,
} from './manifest-files.ts';

/**
 * Checks that content is a plain+v0 bundle and returns what it holds (spec section 8.1).
 * @throws TerminalError with the message of the Unpacked condition.
 */
export function readPlainBundle(
  files: BundleFiles,
  options: ReadManifestsOptions = {},
): ManifestFile[] {
  const manifests = readOrExplain(files, options);
  if (manifests.every((file) => file.objects.length === 0)) {
    throw new TerminalError(
      'invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object',
    );
  }
  return manifests;
}

function readOrExplain(files: BundleFiles, options: ReadManifestsOptions): ManifestFile[] {
  try {
    return readManifestFiles(files, options);
  } catch (error) {
    throw new TerminalError(`get objects from bundle manifests: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
