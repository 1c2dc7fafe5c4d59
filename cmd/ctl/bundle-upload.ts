import { buffer } from 'node:stream/consumers';
import { packBundle } from '../../core/content/index.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import { fnv1a64 } from './fnv.ts';

/** Content as it is sent: the same files make the same bytes, on every machine. */
export interface BundleUpload {
  readonly archive: Uint8Array;
  /** FNV-1a of the archive, in hexadecimal: the Bundle's label `bundleDigest`. */
  readonly digest: string;
}

/** In memory as a whole: its digest names the Bundle, and sending may have to begin anew. */
export async function packUpload(files: BundleFiles): Promise<BundleUpload> {
  const archive = await buffer(packBundle(files));
  return { archive, digest: fnv1a64(archive) };
}
