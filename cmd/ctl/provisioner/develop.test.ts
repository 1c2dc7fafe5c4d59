import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startOf } from '../../../core/platform/runtime/processes.ts';
import { develop, saves } from './develop.ts';

let folder: string;
let stop: AbortController;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rukpak-saves-'));
  stop = new AbortController();
});

afterEach(() => {
  stop.abort();
  rmSync(folder, { recursive: true });
});

const save = (name: string): void => writeFileSync(join(folder, name), String(Math.random()));

test('saves that come together count once, and tests not at all', { tags: ['slow'] }, async () => {
  const found = saves(folder, stop.signal);
  const first = found.next();
  for (const name of ['class.test.ts', '.class.ts.swp', 'class.ts~', 'class.ts', 'class.ts'])
    save(name);
  expect(await first).toEqual({ value: 'class.ts', done: false });
  const second = found.next();
  expect(await Promise.race([second, delay(500, 'nothing')])).toBe('nothing');
  save('settings.ts');
  expect(await second).toEqual({ value: 'settings.ts', done: false });
});

test('a save before anybody looks is not lost: the class is started first', async () => {
  save('class.ts');
  const found = saves(folder, stop.signal);
  save('class.ts');
  save('settings.ts');
  expect(await found.next()).toMatchObject({ done: false });
});

test('a save while nobody looks is not lost', { tags: ['slow'] }, async () => {
  const found = saves(folder, stop.signal);
  const first = found.next();
  save('class.ts');
  await first;
  save('settings.ts');
  await delay(300);
  expect(await found.next()).toEqual({ value: 'settings.ts', done: false });
});

test('it ends with its signal', async () => {
  const first = saves(folder, stop.signal).next();
  stop.abort();
  expect(await first).toEqual({ value: undefined, done: true });
});

test('a second command waits for the first, whose control plane it would delete at its end', async () => {
  const holder = { host: hostname(), pid: process.pid, started: await startOf(process.pid) };
  const place = join(folder, '.rukpak');
  mkdirSync(place);
  writeFileSync(join(place, 'cluster.dev.lock'), JSON.stringify(holder));
  const lines: string[] = [];
  const say = (line: string): void => {
    lines.push(line);
    stop.abort();
  };
  const module = join(folder, 'src/class.ts');
  await expect(develop({ module, folder, say }, stop.signal)).rejects.toThrow();
  expect(lines).toEqual(['waiting for another process that is running the class of this project']);
  expect(readdirSync(place)).toEqual(['cluster.dev.lock']);
});
