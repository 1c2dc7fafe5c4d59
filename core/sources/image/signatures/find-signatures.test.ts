import { expect, test } from 'vitest';
import { digestOf } from '../../../registry/index.ts';
import { findSignatures, type SignatureRepository } from './find-signatures.ts';

const { signal } = new AbortController();
const digest = `sha256:${'a'.repeat(64)}`;
const image = { 'docker-manifest-digest': digest };
const critical = { image, type: 'cosign container image signature' };
const payload = Buffer.from(JSON.stringify({ critical }));
const good = {
  mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
  digest: digestOf(payload),
  size: payload.byteLength,
  annotations: { 'dev.cosignproject.cosign/signature': 'MEUCIQ==' },
};

/** A repository with these layers under cosign's tag, and these referrers. */
function repositoryOf(layers: readonly object[], manifests: readonly object[]) {
  const content = (document: object) => {
    const bytes = Buffer.from(JSON.stringify(document));
    return { bytes, digest: digestOf(bytes), contentType: '' };
  };
  const found: SignatureRepository = {
    findManifest: async (reference) =>
      reference.endsWith('.sig') ? content({ layers }) : undefined,
    findReferrers: async () => content({ manifests }),
    blob: () => ({
      async *[Symbol.asyncIterator]() {
        yield payload;
      },
      verify: async () => undefined,
      close: () => undefined,
    }),
  };
  return found;
}

test.each([
  ['is too large', { ...good, size: 2 ** 30 }],
  ['has no digest', { ...good, digest: 'none' }],
  ['is no object', 1],
])('a layer that %s hides no signature', async (_case, layer) => {
  const repository = repositoryOf([layer as object, good], [layer as object]);
  expect(await findSignatures(repository, digest, signal)).toMatchObject([{ digests: [digest] }]);
});

test('null in a list of referrers counts as a missing field', async () => {
  const asked: string[] = [];
  const artifactType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
  const repository = repositoryOf([], [{ ...good, artifactType, annotations: null }]);
  const watched: SignatureRepository = {
    ...repository,
    findManifest: async (reference) => {
      asked.push(reference);
      return undefined;
    },
  };
  await findSignatures(watched, digest, signal);
  expect(asked).toContain(good.digest);
});
