import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { packUpload } from './bundle-upload.ts';
import { fnv1a64 } from './fnv.ts';

describe('packUpload', () => {
  it('gives equal content equal bytes and one digest, and other content another one', async () => {
    const one = await packUpload(aTree({ 'manifests/a.yaml': 'a', 'manifests/b.yaml': 'b' }));
    const same = await packUpload(aTree({ 'manifests/b.yaml': 'b', 'manifests/a.yaml': 'a' }));
    const other = await packUpload(aTree({ 'manifests/a.yaml': 'a', 'manifests/b.yaml': 'c' }));
    expect(one).toEqual(same);
    expect(one.digest).toBe(fnv1a64(one.archive));
    expect(other.digest).not.toBe(one.digest);
    expect(gunzipSync(one.archive).length % 512).toBe(0);
  });
});
