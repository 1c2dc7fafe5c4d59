// @module-tag process
import { expect, test } from 'vitest';
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
