import type { Bundle, BundleFiles, ProvisionerContext } from '../../core/sdk.ts';
import { readPlainBundle } from '../../core/sdk.ts';

/** Passes a plain+v0 tree on unchanged, files outside of `manifests` included. */
export async function validatePlain(
  files: BundleFiles,
  bundle: Bundle,
  { limits }: ProvisionerContext,
): Promise<BundleFiles> {
  readPlainBundle(files, { sourceType: bundle.spec.source.type, maxObjects: limits.maxEntries });
  return files;
}
