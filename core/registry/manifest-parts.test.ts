import { expect, test } from 'vitest';
import { manifestParts } from './manifest-parts.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const contentType = 'application/vnd.oci.image.index.v1+json';

function partsOf(document: object) {
  return manifestParts({ bytes: Buffer.from(JSON.stringify(document)), digest, contentType });
}

test('null counts as a missing field: Go writes it for an empty list', () => {
  const config = { mediaType: 'x/empty', digest, size: 2, annotations: null, platform: null };
  const image = { config, layers: null, subject: null, artifactType: null, annotations: null };
  expect(partsOf(image)).toMatchObject({ blobs: [{ digest }], manifests: [], subject: undefined });
  expect(partsOf({ manifests: null }).manifests).toEqual([]);
  const referrer = { mediaType: 'x/y', digest, size: 1, artifactType: null, annotations: null };
  expect(partsOf({ manifests: [referrer] }).manifests).toMatchObject([{ digest }]);
});
