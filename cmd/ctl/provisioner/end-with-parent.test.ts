// @module-tag process
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const module = new URL('./end-with-parent.ts', import.meta.url).href;

function start(script: string) {
  const args = ['--import', module, '--input-type=module', '--eval', script];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
}

test('a process that would go on ends when its parent has', async () => {
  const child = start(`setInterval(() => {}, 1000); console.log('runs')`);
  await once(child.stdout ?? child, 'data');
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
});

test('a process that is done ends as without it', async () => {
  expect(await once(start(''), 'exit')).toEqual([0, null]);
});
