import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { className, parseSdk } from './project.ts';

test.each(['acme', 'acme-io-site', 'a1', 'a'.repeat(50)])(
  '%s may be the name of a class',
  (name) => {
    expect(className(name)).toBe(name);
  },
);

test.each([
  ['', 'It must have lower-case letters'],
  ['Acme', 'It must have lower-case letters'],
  ['acme.io', 'It must have lower-case letters'],
  ['1acme', 'It must have lower-case letters'],
  ['acme-', 'It must have lower-case letters'],
  ['acme\n', 'It must have lower-case letters'],
  ['../acme', 'It must have lower-case letters'],
  ['a'.repeat(51), 'It must not be longer than 50 characters.'],
  ['core-rukpak-io-plain', 'Names that begin with "core-rukpak-io" are of built-in classes.'],
  ['true', 'YAML takes that word for something else than a name.'],
])('%j may not', (name, message) => {
  expect(() => className(name)).toThrow(message);
});

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rukpak-sdk-'));
  writeFileSync(join(folder, 'rukpak-ts-1.2.3.tgz'), '');
});

afterAll(() => rmSync(folder, { recursive: true }));

test.each(['1.2.3', '^1.2.3-rc.1', 'latest', '>=1 <2 || 3.x'])('%s is a version', (text) => {
  expect(parseSdk(text)).toEqual({ dependency: text });
});

test('a packed package goes along with the project', () => {
  const tarball = join(folder, 'rukpak-ts-1.2.3.tgz');
  expect(parseSdk(tarball)).toEqual({ dependency: 'file:vendor/rukpak-ts-1.2.3.tgz', tarball });
});

test('what is neither is refused', () => {
  expect(() => parseSdk(join(folder, 'other.tgz'))).toThrow(/^There is no file .*other\.tgz/);
  expect(() => parseSdk('../rukpak-ts')).toThrow('Give a version such as 1.2.3');
  expect(() => parseSdk('package.json')).toThrow('Give a version such as 1.2.3');
  expect(() => parseSdk('')).toThrow('Give a version such as 1.2.3');
});
