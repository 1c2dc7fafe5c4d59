import type { Bundle, BundleFiles } from '../../core/sdk.ts';
import { readPlainBundle } from '../../core/sdk.ts';

/** Passes a plain+v0 tree on unchanged, files outside of `manifests` included. */
export async function validatePlain(files: BundleFiles, bundle: Bundle): Promise<BundleFiles> {
  readPlainBundle(files, bundle.spec.source.type);
  return files;
}
