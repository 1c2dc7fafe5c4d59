import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { homeFolder } from './home-folder.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  syncBuiltinESMExports();
});

test('is what HOME says', () => {
  vi.stubEnv('HOME', '/home/someone');
  expect(homeFolder()).toBe('/home/someone');
});

test('is the root for a user that the machine does not know', () => {
  vi.spyOn(os, 'homedir').mockImplementation(() => {
    throw new Error('uv_os_homedir returned ENOENT');
  });
  syncBuiltinESMExports();
  expect(homeFolder()).toBe('/');
});
