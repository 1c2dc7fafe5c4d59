// @module-tag process
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startOf } from '../../../core/platform/runtime/processes.ts';
import type { Part, ProcessRecord } from './processes.ts';
import { isRunning, startPart, stopProcesses } from './processes.ts';

let dir: string;
const started: ProcessRecord[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-processes-'));
});

afterEach(async () => {
  await stopProcesses(started.splice(0), 100);
  await rm(dir, { recursive: true });
});

function node(script: string): Part {
  const log = join(dir, 'part.log');
  return { name: 'part', binary: process.execPath, args: ['-e', script], log };
}

async function start(script: string): Promise<ProcessRecord> {
  const record = await startPart(node(script));
  started.push(record);
  return record;
}

async function logged(record: ProcessRecord, text: string): Promise<void> {
  while (!(await readFile(record.log, 'utf8')).includes(text)) await sleep(20);
}

test('a started part is told from a later process of the same pid', async () => {
  const record = await start('setInterval(() => {}, 1000)');
  expect(await isRunning(record)).toBe(true);
  expect(await isRunning({ ...record, started: `${record.started}0` })).toBe(false);
});

test('an ended process is not running', async () => {
  const record = await start('');
  while (await isRunning(record)) await sleep(20);
  expect(await startOf(record.pid)).toBeUndefined();
});

test('the user’s own settings do not reach a part', async () => {
  process.env['ETCD_NAME'] = 'of-the-user';
  const record = await start('console.log("name", process.env.ETCD_NAME)');
  delete process.env['ETCD_NAME'];
  await logged(record, 'name undefined');
});

test('a process that was not recorded is left alone, whatever its pid', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(other, 'spawn');
  const pid = other.pid ?? 0;
  await stopProcesses([{ name: 'part', pid, started: 'another time', log: '' }], 100);
  expect(await startOf(pid)).toBeDefined();
  other.kill('SIGKILL');
  await once(other, 'exit');
});

test('a part that ignores the request to end is killed', async () => {
  const record = await start(
    'process.on("SIGTERM", () => {}); console.log("deaf"); setInterval(() => {}, 1000)',
  );
  await logged(record, 'deaf');
  await stopProcesses([record], 200);
  expect(await isRunning(record)).toBe(false);
});

test('a missing binary is named', async () => {
  const part = { ...node(''), binary: join(dir, 'absent') };
  await expect(startPart(part)).rejects.toThrow(`cannot run part (${join(dir, 'absent')})`);
});
