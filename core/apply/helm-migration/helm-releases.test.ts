import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { releaseKinds } from './helm-releases.ts';

function pack(text: string | Uint8Array): string {
  return btoa(gzipSync(text).toString('base64'));
}

function aRelease(manifest: string): string {
  return pack(JSON.stringify({ name: 'demo', info: { status: 'deployed' }, manifest }));
}

const deployment = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n';

test.each([
  ['none', '', []],
  [
    'one, as Helm writes it',
    `---\n# Source: /templates/object-0.yaml\n${deployment}`,
    ['Deployment.apps'],
  ],
  ['the same twice', `${deployment}---\n${deployment}`, ['Deployment.apps']],
  ['the core group', 'kind: "ConfigMap"\napiVersion: "v1"\n', ['ConfigMap.']],
  [
    'a kind deeper down',
    `${deployment}spec:\n  apiVersion: v1\n  kind: Other\n`,
    ['Deployment.apps'],
  ],
  ['a kind in a text', `data:\n  a: |\n    kind: Other\n${deployment}`, ['Deployment.apps']],
  [
    'JSON',
    '{"apiVersion":"a.io/v1","kind":"A"}\n---\n{"apiVersion":"v1","kind":"B"}',
    ['A.a.io', 'B.'],
  ],
  ['comments alone', '---\n# Source: /templates/empty.yaml\n', []],
  ['what cannot be a kind', 'apiVersion: v1\nkind: a,b\n', []],
])('kinds of a manifest with %s', async (_, manifest, expected) => {
  const kinds = await releaseKinds(aRelease(manifest));
  expect(kinds.map(({ kind, group }) => `${kind}.${group}`)).toEqual(expected);
});

const many = Array.from({ length: 600 }, (_, index) => `apiVersion: v1\nkind: K${index}\n`);

test.each([
  ['nothing', '', 'it is not gzip of at most 67108864 bytes'],
  ['no base64', '%%%', 'it is not gzip of at most 67108864 bytes'],
  ['a gzip bomb', pack(Buffer.alloc(80 * 1024 * 1024)), 'it is not gzip of at most 67108864 bytes'],
  ['no JSON', pack('secret'), 'it is not JSON with a manifest'],
  ['JSON of something else', pack('{"manifest":{}}'), 'it is not JSON with a manifest'],
  [
    'a manifest that is none',
    aRelease('- [secret'),
    'its manifest contains a document that is not an object',
  ],
  [
    'what takes long to read',
    aRelease(`{"apiVersion":"v1","kind":"A","data":{"a":"${'b'.repeat(256 * 1024)}"}}`),
    "its manifest has more than 262144 characters in other styles than RukPak's",
  ],
  ['too many kinds', aRelease(many.join('---\n')), 'it has more than 500 kinds'],
])('%s is refused without a word of its content', async (_, release, message) => {
  await expect(releaseKinds(release)).rejects.toThrow(new Error(message));
});
