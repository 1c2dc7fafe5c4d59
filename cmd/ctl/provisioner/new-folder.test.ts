import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fillFolder } from './write-project.ts';

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'rukpak-new-'));
});

afterEach(() => rmSync(parent, { recursive: true }));

const withFile = (name: string) => (draft: string) => writeFile(join(draft, name), 'text');

test('what is made appears in the folder, and nothing else', async () => {
  await fillFolder(join(parent, 'new'), withFile('a'));
  expect(readdirSync(join(parent, 'new'))).toEqual(['a']);
  await expect(fillFolder(join(parent, 'new'), withFile('b'))).rejects.toThrow('is not empty');
  await expect(fillFolder(join(parent, 'new/a'), withFile('b'))).rejects.toThrow('is a file');
  expect(readdirSync(join(parent, 'new'))).toEqual(['a']);
});

test('a failure leaves nothing: no folder that is new, and nothing in one that was there', async () => {
  const failing = async (draft: string): Promise<void> => {
    await withFile('a')(draft);
    throw new Error('404');
  };
  await expect(fillFolder(join(parent, 'new'), failing)).rejects.toThrow('404');
  expect(existsSync(join(parent, 'new'))).toBe(false);
  await expect(fillFolder(parent, failing)).rejects.toThrow('404');
  expect(readdirSync(parent)).toEqual([]);
});

test('what others put there meanwhile stays', async () => {
  const folder = join(parent, 'new');
  const failing = async (): Promise<void> => {
    writeFileSync(join(folder, 'theirs'), '');
    throw new Error('404');
  };
  await expect(fillFolder(folder, failing)).rejects.toThrow('404');
  expect(readdirSync(folder)).toEqual(['theirs']);
});

test('what others put there under the same name is not replaced', async () => {
  const folder = join(parent, 'new');
  const slow = async (draft: string): Promise<void> => {
    await withFile('README.md')(draft);
    writeFileSync(join(folder, 'README.md'), 'theirs');
  };
  await expect(fillFolder(folder, slow)).rejects.toThrow(
    `${join(folder, 'README.md')} was written meanwhile: name another folder with --dir`,
  );
  expect(readdirSync(folder)).toEqual(['README.md']);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('theirs');
});
