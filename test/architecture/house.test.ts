import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const families = 'api,catalog,cmd,core,deploy,operators,provisioners,resolver,testing,webhooks';

const maxLines = 250;
const maxFiles = 12;

/** Folders that may have more files, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'cmd/ctl/operator': 'one file for each command of `rukpakctl operator`',
};

const files = globSync(`{${families}}/**/*.{ts,go}`, { cwd: root })
  .filter((path) => !path.endsWith('.test.ts') && !path.includes('node_modules'))
  .toSorted();

test(`a file of the product has at most ${maxLines} lines`, () => {
  const lines = (path: string): number => readFileSync(join(root, path), 'utf8').split('\n').length;
  const long = files.filter((path) => lines(path) - 1 > maxLines);
  expect(long).toEqual([]);
});

test(`a folder of the product has at most ${maxFiles} files besides tests`, () => {
  const counts = new Map<string, number>();
  for (const folder of files.map(dirname)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  const full = [...counts].filter(([, count]) => count > maxFiles).map(([folder]) => folder);
  expect(full.filter((folder) => !Object.hasOwn(exceptions, folder))).toEqual([]);
});
