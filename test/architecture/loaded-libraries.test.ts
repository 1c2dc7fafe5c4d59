import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const statement = /^(?:import|export)\s+(?!type\b)(?:[^;]*?\sfrom\s+)?'([^']+)';$/gm;

/** Packages of npm that a file and what it imports at its start load. */
function librariesOf(path: string): readonly string[] {
  const seen = new Set<string>();
  const libraries = new Set<string>();
  const open = [join(root, path)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(statement)) {
      if (target.startsWith('.')) open.push(join(dirname(file), target));
      else if (!target.startsWith('node:') || target === 'node:sqlite') libraries.add(target);
    }
  }
  return [...libraries];
}

// Libraries took 0.2 s of processor time and 30 MiB of each run (ADR 57).
test.each([
  'cmd/opm.ts',
  'cmd/opm/catalog/validate.ts',
  'cmd/opm/catalog/render.ts',
  'catalog/load/index.ts',
  'catalog/render/index.ts',
  'catalog/validate/index.ts',
])('%s loads no library', (path) => {
  expect(librariesOf(path)).toEqual([]);
});

// Its HTTP client took a tenth of a start of `opm serve` without a cache.
test('a server of a directory loads no registry client', () => {
  expect(librariesOf('catalog/serve/index.ts')).not.toContain('undici');
});
