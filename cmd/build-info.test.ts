import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildInfo, buildInfoFile } from './build-info.ts';

const unknown = { revision: 'unknown', date: 'unknown', state: 'unknown' };

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'build-info-'));
  mkdirSync(join(root, 'dist/cmd'), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{}');
});
afterEach(() => rmSync(root, { recursive: true }));

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  return execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8' }).trim();
}

it('asks git in a checkout, from wherever the program is', () => {
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message=one', '--date=2026-01-02T03:04:05Z');
  const revision = git('rev-parse', 'HEAD');
  const date = git('log', '-1', '--format=%cI');
  expect(buildInfo(join(root, 'dist/cmd'))).toEqual({ revision, date, state: 'clean' });
  writeFileSync(join(root, 'package.json'), '{"changed": true}');
  expect(buildInfo(root)).toEqual({ revision, date, state: 'dirty' });
});

it('believes what was written when the package was made', () => {
  const info = { revision: 'abc', date: '2026-01-02T03:04:05Z', state: 'clean' };
  writeFileSync(join(root, buildInfoFile), JSON.stringify(info));
  expect(buildInfo(join(root, 'dist/cmd'))).toEqual(info);
});

it.each([
  ['neither', () => undefined],
  ['an empty repository', () => git('init', '--quiet')],
  ['a damaged file', () => writeFileSync(join(root, buildInfoFile), '{"revision": 1}')],
])('knows nothing with %s', (_what, prepare) => {
  prepare();
  expect(buildInfo(root)).toEqual(unknown);
});
