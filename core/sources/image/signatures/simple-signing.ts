import { createHash } from 'node:crypto';
import { type TransparencyLogEntry, toMessageSignatureBundle } from '@sigstore/bundle';
import { z } from 'zod';
import type { SignedStatement } from './signed-statement.ts';

/** Signatures as cosign attaches them under the tag `sha256-<hex>.sig` (its signature spec). */
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
 * @throws Error that says what of it is malformed
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
