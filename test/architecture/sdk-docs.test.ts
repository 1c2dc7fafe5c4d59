import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/sdk.md'), 'utf8');

/** What a module exports, by name: lists of names, and functions of its own. */
function exportsOf(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list);
  const listed = lists.flatMap((list) => list.split(',')).map((name) => name.replace('type ', ''));
  const own = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  return [...listed.map((name) => name.trim()), ...own].filter((name) => name !== '');
}

function sectionOf(door: string): string {
  const section = page.split('\n## ').find((text) => text.startsWith(`\`${door}\`\n`));
  if (section === undefined) throw new Error(`docs/sdk.md has no section for ${door}`);
  return section;
}

test.each([
  ['rukpak-ts/sdk', 'core/sdk.ts'],
  ['rukpak-ts/testing', 'testing/index.ts'],
  ['rukpak-ts/manager', 'core/run-manager.ts'],
])('docs/sdk.md names all that %s exports, and nothing else', (door, path) => {
  const exported = exportsOf(path);
  expect(exported.length).toBeGreaterThan(3);
  const rows = sectionOf(door)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)]);
  expect(named.map(([, name = '']) => name).toSorted()).toEqual(exported.toSorted());
});
