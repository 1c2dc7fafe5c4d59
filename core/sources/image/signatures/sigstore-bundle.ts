import { bundleFromJSON } from '@sigstore/bundle';
import { z } from 'zod';
import { record } from '../../../../api/record.ts';
import type { SignedStatement } from './signed-statement.ts';

/** Sigstore's bundles, which newer signers attach as referrers of the image. */
export const sigstoreBundleMediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Other predicates say something about an image; this one says that it is good to use. */
const signaturePredicate = 'https://sigstore.dev/cosign/sign/v1';
const statementType = 'application/vnd.in-toto+json';

const statementSchema = z.object({
  predicateType: z.string(),
  subject: z.array(z.object({ digest: record(z.string()) })),
});

/**
 * A bundle's statement; undefined where it is no signature, but some other attestation.
 * @throws Error that says what of it is malformed
 */
export function readSigstoreBundle(content: Uint8Array): SignedStatement | undefined {
  const bundle = bundleFromJSON(JSON.parse(Buffer.from(content).toString('utf8')));
  if (bundle.content.$case !== 'dsseEnvelope') return undefined;
  const { payload, payloadType } = bundle.content.dsseEnvelope;
  if (payloadType !== statementType) return undefined;
  const { predicateType, subject } = statementSchema.parse(JSON.parse(payload.toString('utf8')));
  if (predicateType !== signaturePredicate) return undefined;
  const digests = subject.flatMap(({ digest }) =>
    Object.entries(digest).map(([algorithm, hex]) => `${algorithm}:${hex}`),
  );
  return { bundle, digests };
}
