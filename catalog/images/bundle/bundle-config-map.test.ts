import { gunzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { bundleConfigMap } from './bundle-config-map.ts';

const prefix = 'operators.operatorframework.io.bundle.';

function file(name: string, text: string) {
  return { name, content: Buffer.from(text) };
}

const files = [
  file('a b.yaml', 'kind: A'),
  file('annotations.yaml', `annotations: {${prefix}package.v1: pkg, other: x}`),
];
const onTranslated = vi.fn();
const onExceeded = vi.fn();
const options = { gzip: false, limit: 100n, sourceImage: '', onTranslated, onExceeded };

test('files are keys, and annotations are annotations', () => {
  expect(bundleConfigMap(files, options)).toEqual({
    data: { 'a-b.yaml': 'kind: A' },
    binaryData: {},
    annotations: expect.objectContaining({
      [`${prefix}package.v1`]: 'pkg',
      [`${prefix}channels.v1`]: '',
    }) as object,
    addedAnnotations: {},
  });
  expect(onTranslated).toHaveBeenCalledWith('a b.yaml', 'a-b.yaml');
});

test('compressed files are binary, and say so', () => {
  const { data, binaryData, addedAnnotations } = bundleConfigMap(files, {
    ...options,
    gzip: true,
    sourceImage: 'example.com/a:v1',
  });
  const text = Buffer.from(binaryData['a-b.yaml'] ?? '', 'base64').toString();
  expect(gunzipSync(Buffer.from(text, 'base64')).toString()).toBe('kind: A');
  expect(data).toEqual({});
  expect(addedAnnotations).toEqual({
    'olm.contentEncoding': 'gzip+base64',
    'olm.sourceImage': 'example.com/a:v1',
  });
});

test('what is too large is refused', () => {
  expect(() => bundleConfigMap(files, { ...options, limit: 6n })).toThrow(
    'bundle files exceeded 6 bytes limit',
  );
  expect(onExceeded).toHaveBeenCalledWith('a b.yaml');
});
