import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.ts';

let dir: string;
let file: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-lock-'));
  file = join(dir, 'lock');
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

function options(signal = new AbortController().signal) {
  return { purpose: 'testing', onProgress: () => {}, signal };
}

test('work under one lock never overlaps', { tags: ['slow'] }, async () => {
  let inside = 0;
  let most = 0;
  async function work(): Promise<void> {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 20));
    inside -= 1;
  }
  await Promise.all([1, 2, 3].map(() => withLock(file, options(), work)));
  expect(most).toBe(1);
  expect(await readdir(dir)).toEqual([]);
});

test('the lock of a process that ended is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await writeFile(file, JSON.stringify({ host: hostname(), pid, started: 'then' }));
  expect(await withLock(file, options(), () => Promise.resolve('done'))).toBe('done');
});

test('the lock of another machine is taken over when nobody has refreshed it for long', {
  tags: ['slow'],
}, async () => {
  await writeFile(file, JSON.stringify({ host: 'elsewhere', pid: 1, started: 'then' }));
  const signal = AbortSignal.timeout(700);
  await expect(withLock(file, options(signal), () => Promise.resolve())).rejects.toThrow();
  const longAgo = new Date(Date.now() - 120_000);
  await utimes(file, longAgo, longAgo);
  expect(await withLock(file, options(), () => Promise.resolve('done'))).toBe('done');
});
