import { createHash } from 'node:crypto';
import {
  bundleFromJSON,
  type Bundle as SigstoreBundle,
  type TransparencyLogEntry,
  toMessageSignatureBundle,
} from '@sigstore/bundle';
import { z } from 'zod';
import { record } from '../../../../api/record.ts';

/** A signature and what it claims to sign, not verified yet. */
export interface SignedStatement {
  readonly bundle: SigstoreBundle;
  /** The signed bytes, when the bundle does not contain them itself. */
  readonly artifact?: Buffer;
  /** Digests of manifests, `sha256:…`. */
  readonly digests: readonly string[];
}

/** Maximum number of signatures to check per image. */
export const maxSignatures = 50;

/**
 * Media type of signatures that cosign attaches under the tag `sha256-<hex>.sig` (its signature
 * spec).
 */
export const simpleSigningMediaType = 'application/vnd.dev.cosign.simplesigning.v1+json';

const annotation = {
  signature: 'dev.cosignproject.cosign/signature',
  certificate: 'dev.sigstore.cosign/certificate',
  logEntry: 'dev.sigstore.cosign/bundle',
} as const;

const payloadSchema = z.object({
  critical: z.object({
    type: z.enum(['cosign container image signature', 'atomic container signature']),
    image: z.object({ 'docker-manifest-digest': z.string() }),
  }),
});

const logEntrySchema = z.object({
  SignedEntryTimestamp: z.base64(),
  Payload: z.object({
    body: z.base64(),
    integratedTime: z.int(),
    logIndex: z.int(),
    logID: z.hex(),
  }),
});

const logBodySchema = z.object({ kind: z.string(), apiVersion: z.string() });

/**
 * One layer of a signature image, as a statement.
 * @throws Error that names the malformed part
 */
export function readSimpleSignature(
  payload: Uint8Array,
  annotations: Readonly<Record<string, string>>,
): SignedStatement {
  const artifact = Buffer.from(payload);
  const { critical } = payloadSchema.parse(JSON.parse(artifact.toString('utf8')));
  const certificate = annotations[annotation.certificate];
  const bundle = toMessageSignatureBundle({
    digest: createHash('sha256').update(artifact).digest(),
    signature: Buffer.from(annotations[annotation.signature] ?? '', 'base64'),
    ...(certificate === undefined ? { keyHint: '' } : { certificate: derOf(certificate) }),
  });
  const logEntry = annotations[annotation.logEntry];
  if (logEntry !== undefined) {
    bundle.verificationMaterial.tlogEntries.push(readLogEntry(JSON.parse(logEntry)));
  }
  return { bundle, artifact, digests: [critical.image['docker-manifest-digest']] };
}

function derOf(pem: string): Buffer {
  const [, base64 = ''] = /-----BEGIN CERTIFICATE-----([^-]+)-----END/.exec(pem) ?? [];
  return Buffer.from(base64, 'base64');
}

function readLogEntry(value: unknown): TransparencyLogEntry {
  const { SignedEntryTimestamp, Payload } = logEntrySchema.parse(value);
  const canonicalizedBody = Buffer.from(Payload.body, 'base64');
  const { kind, apiVersion } = logBodySchema.parse(JSON.parse(canonicalizedBody.toString('utf8')));
  return {
    logIndex: String(Payload.logIndex),
    logId: { keyId: Buffer.from(Payload.logID, 'hex') },
    kindVersion: { kind, version: apiVersion },
    integratedTime: String(Payload.integratedTime),
    inclusionPromise: { signedEntryTimestamp: Buffer.from(SignedEntryTimestamp, 'base64') },
    inclusionProof: undefined,
    canonicalizedBody,
  };
}

/** Media type of Sigstore's bundles, which newer signers attach as referrers of the image. */
export const sigstoreBundleMediaType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Predicate type of a signature; other predicates only describe an image. */
const signaturePredicate = 'https://sigstore.dev/cosign/sign/v1';
const statementType = 'application/vnd.in-toto+json';

const statementSchema = z.object({
  predicateType: z.string(),
  subject: z.array(z.object({ digest: record(z.string()) })),
});

/**
 * A bundle's statement; undefined for an attestation that is not a signature.
 * @throws Error that names the malformed part
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
