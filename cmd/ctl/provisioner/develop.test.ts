import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { saves } from './develop.ts';

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

test('saves that come together count once, and tests not at all', async () => {
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

test('a save while nobody looks is not lost', async () => {
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
