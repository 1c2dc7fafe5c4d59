import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSdk } from './sdk.ts';

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
