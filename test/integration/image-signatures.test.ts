import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SourceResult } from '../../core/contracts/source.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { readImageVerifier } from '../../core/sources/image/signatures/index.ts';
import { createImageSource } from '../../core/sources/index.ts';
import {
  attachBundle,
  attachSignature,
  keyAnnotations,
  type SignedTarget,
  simplePayload,
} from '../helpers/attach-signature.ts';
import { type KeylessSigner, keylessSigner } from '../helpers/keyless-signer.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage, pushIndex } from '../helpers/push-image.ts';
import { aSourceContext } from '../helpers/source-context.ts';

const identity = {
  issuer: 'https://issuer.example.com',
  subject: 'https://git.example.com/acme/app/release.yml@refs/tags/v1',
};
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** A registry may have signed images of an earlier run, of the same content. */
const run = randomBytes(3).toString('hex');
let folder: string;
let registry: string;
let signer: KeylessSigner;
let images = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-signatures-'));
  registry = plane.registry;
  signer = await keylessSigner(identity);
  await writeFile(join(folder, 'trusted_root.json'), JSON.stringify(signer.trustedRoot));
  await writeFile(join(folder, 'policy.yaml'), policies());
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function policies(): string {
  const data = keys.publicKey.export({ type: 'spki', format: 'pem' });
  const authorities = {
    key: [{ name: 'the release key', key: { data } }],
    keyless: [{ name: 'the release workflow', keyless: { identities: [identity] } }],
  };
  return Object.entries(authorities)
    .map(([name, authorities]) => ({
      apiVersion: 'policy.sigstore.dev/v1beta1',
      kind: 'ClusterImagePolicy',
      metadata: { name },
      spec: { images: [{ glob: `${registry}/signed/${name}/**` }], authorities },
    }))
    .map((policy) => JSON.stringify(policy))
    .join('\n');
}

async function anImage(policy: string): Promise<SignedTarget> {
  images += 1;
  const repository = `signed/${policy}/${run}/${images}`;
  const files = { 'manifests/a.yaml': `number: ${images}` };
  const { digest } = await pushImage({ registry, repository, tag: 'v1', layers: [{ files }] });
  return { registry, repository, digest };
}

async function pull({ repository }: { readonly repository: string }): Promise<SourceResult> {
  const source = createImageSource({
    insecureRegistries: [registry],
    verifier: readImageVerifier(join(folder, 'policy.yaml'), join(folder, 'trusted_root.json')),
    clock: systemClock,
  });
  const ref = `${registry}/${repository}:v1`;
  return await source.fetch({ type: 'image', image: { ref } }, aSourceContext());
}

test('an image that is signed by the key is pulled, one that is not is refused', async () => {
  const image = await anImage('key');
  await expect(pull(image)).rejects.toThrow(
    `error verifying image signature: ${registry}/${image.repository}@${image.digest} does not satisfy image policy "key": the image is not signed; sign it with cosign, or change the policy`,
  );
  const payload = simplePayload(image);
  await attachSignature(image, payload, keyAnnotations(payload, keys.privateKey));
  const { resolvedSource } = await pull(image);
  expect(resolvedSource.image?.ref).toBe(`${registry}/${image.repository}@${image.digest}`);
});

test('a sigstore bundle that refers to the image counts too', async () => {
  const image = await anImage('key');
  await attachBundle(image, keys.privateKey);
  await pull(image);
});

test('the signature of another key is refused', async () => {
  const image = await anImage('key');
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const payload = simplePayload(image);
  await attachSignature(image, payload, keyAnnotations(payload, stranger.privateKey));
  await expect(pull(image)).rejects.toThrow(
    'image policy "key": no signature by the release key (signature verification failed)',
  );
  await attachBundle(image, stranger.privateKey);
  await expect(pull(image)).rejects.toThrow('image policy "key": no signature by');
});

test('a signature that was copied from another image is refused', async () => {
  const [signed, image] = [await anImage('key'), await anImage('key')];
  const payload = simplePayload(signed);
  await attachSignature(image, payload, keyAnnotations(payload, keys.privateKey));
  await expect(pull(image)).rejects.toThrow('the image is not signed');
});

test('an identity signs without a key, and no other identity does', async () => {
  const image = await anImage('keyless');
  const payload = simplePayload(image);
  await attachSignature(image, payload, signer.annotations(payload));
  await pull(image);

  const other = await anImage('keyless');
  const otherPayload = simplePayload(other);
  await attachSignature(other, otherPayload, keyAnnotations(otherPayload, keys.privateKey));
  await expect(pull(other)).rejects.toThrow(
    'no signature by the release workflow (it is signed without a certificate)',
  );
});

test('an index is signed as a whole', async () => {
  const repository = `signed/key/${run}/index`;
  const layers = [{ files: { 'manifests/a.yaml': 'a: 1' } }];
  const manifests = [await pushImage({ registry, repository, tag: 'amd64', layers })];
  const { digest } = await pushIndex({ registry, repository, tag: 'v1', manifests });
  await expect(pull({ repository })).rejects.toThrow('the image is not signed');
  const target = { registry, repository, digest };
  const payload = simplePayload(target);
  await attachSignature(target, payload, keyAnnotations(payload, keys.privateKey));
  await pull({ repository });
});

test('images of other repositories need no signature', async () => {
  await pull(await anImage('unsigned'));
});

test('what is attached and broken does not hide what is good', async () => {
  const image = await anImage('key');
  await attachSignature(image, Buffer.from('no JSON'), {});
  await attachBundle(image, keys.privateKey);
  await pull(image);
});
