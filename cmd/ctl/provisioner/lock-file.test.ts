// @module-tag process
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { writeLockFile } from './write-project.ts';

let folder: string;
const { signal } = new AbortController();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rukpak-lock-'));
  vi.stubEnv('PATH', folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function npm(script: string): void {
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'npm'), 0o755);
}

test('npm writes it in the project, and installs nothing', async () => {
  npm('echo "$@" > package-lock.json');
  await writeLockFile(folder, signal);
  expect(readFileSync(join(folder, 'package-lock.json'), 'utf8')).toBe(
    'install --package-lock-only --no-audit --no-fund\n',
  );
});

test('where npm fails its own words are told, and what to run', async () => {
  npm(
    `printf 'npm warn old\\nnpm error code ETARGET\\nnpm error notarget No such version\\n' >&2; exit 1`,
  );
  await expect(writeLockFile(folder, signal)).rejects.toThrow(
    "npm cannot write the project's package-lock.json (notarget No such version): try again",
  );
});

test('where rukpak-ts is in no registry, there is the one that makes the project', async () => {
  npm(`printf 'npm error code E404\\nnpm error 404 Not Found - GET rukpak-ts\\n' >&2; exit 1`);
  await expect(writeLockFile(folder, signal)).rejects.toThrow(
    '(404 Not Found - GET rukpak-ts): leave out --sdk to take the rukpak-ts that makes the project, or name a file that npm pack has made',
  );
});

test('an old Node is named', async () => {
  npm(`printf 'npm error code EBADENGINE\\nnpm error engine Unsupported engine\\n' >&2; exit 1`);
  await expect(writeLockFile(folder, signal)).rejects.toThrow('(npm runs on a Node before 24)');
});

test('where there is no npm, that is said', async () => {
  await expect(writeLockFile(folder, signal)).rejects.toThrow('(there is no npm on the PATH)');
});
