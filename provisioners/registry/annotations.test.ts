import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../core/sdk.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { readPackageName } from './annotations.ts';

const key = 'operators.operatorframework.io.bundle.package.v1';

function packageNameOf(content: string | Uint8Array): string {
  return readPackageName(aTree({ 'metadata/annotations.yaml': content }), 'image');
}

describe('readPackageName', () => {
  it.each([
    ['text', `annotations:\n  ${key}: etcd\n  ${key}x: other`, 'etcd'],
    ['a number, as text', `annotations: {${key}: 1.1}`, '1.1'],
    ['a boolean, as text', `annotations: {${key}: yes}`, 'true'],
    ['another case of the keys', `Annotations: {${key.toUpperCase()}: etcd}`, 'etcd'],
    ['null', `annotations: {${key}: ~}`, ''],
    ['no such key', 'annotations: {a: b}', ''],
    ['no annotations', 'other: 1', ''],
    ['an empty file', '', ''],
  ])('reads %s', (_case, content, expected) => {
    expect(packageNameOf(content)).toBe(expected);
  });

  it.each([
    ['a scalar file', 'text', 'unrecognized type: struct (the document is a string'],
    ['bad YAML', 'a: [', 'error converting YAML to JSON: yaml: '],
    ['annotations that are a list', 'annotations: [a]', 'annotations is a list'],
    ['a name that is a map', `annotations: {${key}: {}}`, 'unrecognized type: string'],
    ['bytes that are no UTF-8', Uint8Array.of(0xff, 0xfe), 'invalid leading UTF-8 octet'],
  ])('refuses %s', (_case, content, message) => {
    expect(() => packageNameOf(content)).toThrow(/^metadata\/annotations\.yaml: /);
    expect(() => packageNameOf(content)).toThrow(message);
  });

  it.each([
    ['image', 'readfile metadata/annotations.yaml: file does not exist'],
    ['http', 'readfile metadata/annotations.yaml: file does not exist'],
    ['upload', 'readfile metadata/annotations.yaml: file does not exist'],
    ['git', 'open metadata/annotations.yaml: file does not exist'],
    ['configMaps', 'open metadata/annotations.yaml: file does not exist'],
  ])('says that content of type %s has no annotations', (sourceType, message) => {
    expect(() => readPackageName(aTree({ 'metadata/other.yaml': '' }), sourceType)).toThrow(
      new TerminalError(message),
    );
  });
});
