import type { Bundle as SigstoreBundle } from '@sigstore/bundle';

/** Something that is signed, and what it says it signs; nothing of it is verified yet. */
export interface SignedStatement {
  readonly bundle: SigstoreBundle;
  /** The signed bytes, where the bundle does not hold them itself. */
  readonly artifact?: Buffer;
  /** Digests of manifests, `sha256:…`. */
  readonly digests: readonly string[];
}

/** At most so many signatures of an image are looked at. */
export const maxSignatures = 50;
