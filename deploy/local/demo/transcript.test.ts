// @module-tag process

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const script = `
  import { Transcript } from ${JSON.stringify(join(import.meta.dirname, 'transcript.ts'))};
  const transcript = new Transcript({ environment: process.env, directory: process.cwd() });
  transcript.heading('Install');
  transcript.note('a note');
  await transcript.run('echo done');
`;

test('a transcript in a file has no escape sequences, even for a terminal with colours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'output');
  const file = openSync(path, 'w');
  const { NO_COLOR: _none, FORCE_COLOR: _always, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...env, TERM: 'xterm-256color' },
    stdio: ['ignore', file, 'inherit'],
  });
  const [code] = await once(child, 'exit');
  closeSync(file);
  expect(code).toBe(0);
  expect(readFileSync(path, 'utf8')).toBe('\n== Install\n   a note\n$ echo done\ndone\n');
});
