import { readFileSync } from 'node:fs';
import { errorMessage } from '../../../errors.ts';
import type { ImageVerifier } from '../../../registry/index.ts';
import { findSignatures } from './find-signatures.ts';
import { parseImagePolicies } from './image-policy.ts';
import { parseTrustedRoot, SignatureVerifier } from './signature-verifier.ts';

/**
 * Verifies images by the policies in a file.
 * @throws Error that names the file and its unusable part
 */
export function readImageVerifier(
  policyFile: string,
  trustedRootFile: string | undefined,
): ImageVerifier {
  const policies = parseImagePolicies(policyFile, read(policyFile));
  const trustRoot =
    trustedRootFile === undefined
      ? undefined
      : parseTrustedRoot(trustedRootFile, read(trustedRootFile).toString('utf8'));
  const verifier = new SignatureVerifier({ policies, trustRoot });
  return {
    async verify({ repository, digest, client }, signal) {
      const statements = () => findSignatures(client, digest, signal);
      await verifier.verify({ repository, digest, statements });
    },
  };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}
