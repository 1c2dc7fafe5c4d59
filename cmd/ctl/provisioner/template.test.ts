import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Manifest {
  readonly files: readonly string[];
  readonly engines: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const ours = JSON.parse(read('package.json')) as Manifest;
const theirs = JSON.parse(read('scaffold/provisioner/package.json')) as Manifest;

test('a new project is made with the tools that this one is made with', () => {
  for (const [name, range] of Object.entries(theirs.devDependencies)) {
    expect(ours.devDependencies[name], name).toBe(range);
  }
  expect(theirs.engines).toEqual(ours.engines);
});

test('the template is part of the package', () => {
  expect(ours.files).toContain('scaffold');
});
