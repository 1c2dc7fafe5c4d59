// @module-tag process
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** A numbered section of a document that is not named by its path. */
const citation =
  /\b(?:spec|bundle-formats|design)(?:'s)?(?:\s|\n\s*\*\s)+(?:sections?(?:\s|\n\s*\*\s)+)?\d+(?:\.\d+)?\b(?!\.\d)/gi;

test('no comment and no page cites sections that a reader does not have', () => {
  const args = ['ls-files', '-z', '*.ts', '*.js', '*.md', '*.go', '*.yaml'];
  const paths = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  const found = paths.filter(Boolean).flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [...text.matchAll(citation)].map(([words]) => `${path}: ${words}`);
  });
  expect(found).toEqual([]);
});
