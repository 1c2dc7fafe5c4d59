import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { rukpakctl } from '../../../test/helpers/rukpakctl.ts';

const policy = `apiVersion: policy.sigstore.dev/v1beta1
kind: ClusterImagePolicy
metadata: { name: none }
spec:
  images: [{ glob: "**" }]
  authorities: [{ static: { action: fail } }]
`;
let dir = '';
let registry: FakeRegistry;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'unpack-'));
  registry = await FakeRegistry.start();
});

afterEach(async () => {
  await registry.stop();
  await rm(dir, { recursive: true });
});

test('unpack refuses an image that the policy refuses, before it writes anything', async () => {
  await registry.addImage('v1', [{ files: { a: '' } }]);
  await writeFile(join(dir, 'policy.yaml'), policy);
  const to = join(dir, 'unpacked');
  const args = ['bundle', 'unpack', `${registry.host}/app:v1`, to];
  const flags = ['--insecure-registry', registry.host, '--image-policy', join(dir, 'policy.yaml')];
  const { code, stderr } = await rukpakctl([...args, ...flags]);
  expect(code).toBe(1);
  expect(stderr).toContain('does not satisfy image policy "none": it refuses every image');
  expect(existsSync(to)).toBe(false);
});
