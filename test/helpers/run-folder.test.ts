import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RunFolder } from './run-folder.ts';

test('what the processes of a run have left ends with it, and nothing else', {
  tags: ['process'],
}, async () => {
  const elsewhere = spawn('sleep', ['600']);
  onTestFinished(() => void elsewhere.kill());
  vi.stubEnv('TMPDIR', tmpdir());
  onTestFinished(() => void vi.unstubAllEnvs());
  const run = RunFolder.create();
  const written = join(await mkdtemp(join(tmpdir(), 'left-')), 'file');
  writeFileSync(written, '');
  expect(written.startsWith(run.path)).toBe(true);
  const child = spawn('sleep', ['600'], { detached: true });
  const end = once(child, 'exit');
  run.sweep();
  expect(await end).toEqual([null, 'SIGKILL']);
  expect(existsSync(run.path)).toBe(false);
  expect(elsewhere.exitCode).toBeNull();
  expect(elsewhere.signalCode).toBeNull();
});
