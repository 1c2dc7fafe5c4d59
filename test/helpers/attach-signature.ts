import type { KeyObject } from 'node:crypto';
import { sign } from 'node:crypto';
import type { TypedDescriptor } from '../../core/registry/index.ts';
import { pushBlob, pushManifest } from './push-image.ts';

export interface SignedTarget {
  readonly registry: string;
  readonly repository: string;
  /** Of the image that is signed. */
  readonly digest: string;
}

const imageType = 'application/vnd.oci.image.manifest.v1+json';
const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** What cosign signs: that an image of that digest is meant. */
export function simplePayload({ registry, repository, digest }: SignedTarget): Buffer {
  const identity = { 'docker-reference': `${registry}/${repository}` };
  const image = { 'docker-manifest-digest': digest };
  const type = 'cosign container image signature';
  return Buffer.from(JSON.stringify({ critical: { identity, image, type }, optional: null }));
}

export function keyAnnotations(payload: Uint8Array, key: KeyObject): Record<string, string> {
  const signature = sign('sha256', payload, key).toString('base64');
  return { 'dev.cosignproject.cosign/signature': signature };
}

/** Attaches a signature as cosign does by its tag. */
export async function attachSignature(
  target: SignedTarget,
  payload: Uint8Array,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const repository = { ...target, tag: `${target.digest.replace(':', '-')}.sig` };
  const mediaType = 'application/vnd.dev.cosign.simplesigning.v1+json';
  const layer = await pushBlob(repository, { bytes: payload, mediaType });
  const config = await emptyConfig(repository, 'application/vnd.oci.image.config.v1+json');
  const layers = [{ ...layer, annotations }];
  await pushManifest(repository, { schemaVersion: 2, mediaType: imageType, config, layers });
}

/** Attaches a sigstore bundle, found by the fallback tag of the referrers API. */
export async function attachBundle(target: SignedTarget, key: KeyObject): Promise<void> {
  const repository = { ...target, tag: target.digest.replace(':', '-') };
  const bytes = Buffer.from(JSON.stringify(signedBundle(target.digest, key)));
  const layers = [await pushBlob(repository, { bytes, mediaType: bundleType })];
  const config = await emptyConfig(repository, 'application/vnd.oci.empty.v1+json');
  const manifest = { schemaVersion: 2, mediaType: imageType, artifactType: bundleType };
  const byDigest = await pushManifest(
    { ...repository, tag: 'bundle' },
    { ...manifest, config, layers },
  );
  await pushManifest(repository, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ ...byDigest, artifactType: bundleType }],
  });
}

async function emptyConfig(
  repository: Parameters<typeof pushBlob>[0],
  mediaType: string,
): Promise<TypedDescriptor> {
  return await pushBlob(repository, { bytes: Buffer.from('{}'), mediaType });
}

function signedBundle(digest: string, key: KeyObject): object {
  const payloadType = 'application/vnd.in-toto+json';
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ digest: { sha256: digest.slice('sha256:'.length) } }],
    predicateType: 'https://sigstore.dev/cosign/sign/v1',
    predicate: {},
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const encoded = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `;
  const sig = sign('sha256', Buffer.concat([Buffer.from(encoded), payload]), key);
  return {
    mediaType: bundleType,
    verificationMaterial: { publicKey: { hint: 'any' } },
    dsseEnvelope: {
      payload: payload.toString('base64'),
      payloadType,
      signatures: [{ sig: sig.toString('base64') }],
    },
  };
}
