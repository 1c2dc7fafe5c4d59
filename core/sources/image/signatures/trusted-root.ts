import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type TrustMaterial, toTrustMaterial } from '@sigstore/verify';
import { errorMessage } from '../../../errors.ts';

/** Certificate authorities and logs that keyless signatures are held to. */
export interface TrustRoot {
  readonly material: TrustMaterial;
}

/**
 * Reads sigstore's `trusted_root.json`.
 * @throws Error that names the file
 */
export function parseTrustedRoot(file: string, text: string): TrustRoot {
  try {
    const root = TrustedRoot.fromJSON(JSON.parse(text));
    if (root.certificateAuthorities.length === 0)
      throw new Error('it has no certificateAuthorities');
    return { material: toTrustMaterial(root) };
  } catch (error) {
    throw new Error(`${file} is not a sigstore trusted root: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
