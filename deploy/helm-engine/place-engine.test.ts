// @module-tag process
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { goModule } from './go-module.ts';
import { placeHelmEngine } from './place-engine.ts';

const { signal } = new AbortController();
const said: string[] = [];
const options = { onProgress: (line: string) => said.push(line), signal };

test('an engine that is in place and of these sources needs no Go', async () => {
  await placeHelmEngine(options);
  said.length = 0;
  await placeHelmEngine({ ...options, env: { ...process.env, PATH: '/nowhere' } });
  expect(said).toEqual([]);
});

// A pull would bring the hash of new sources to an engine of the old ones.
test('the repository has nothing that is built', () => {
  const args = ['ls-files', '--cached', '--ignored', '--exclude-standard', '--', ':/'];
  expect(execFileSync('git', args, { cwd: goModule, encoding: 'utf8' })).toBe('');
});
