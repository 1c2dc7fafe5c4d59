import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseImageReference } from '../core/registry/index.ts';
import { loginKeychain } from './login-keychain.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logins-'));
  const nowhere = join(folder, 'none');
  for (const name of ['HOME', 'XDG_RUNTIME_DIR', 'DOCKER_CONFIG']) vi.stubEnv(name, nowhere);
  vi.stubEnv('REGISTRY_AUTH_FILE', '');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

test('without logins, nothing is missing', async () => {
  expect((await loginKeychain()).shortcoming).toBeUndefined();
});

test('a file of logins that cannot be read is named, and the next one counts', async () => {
  const file = join(folder, 'run/containers/auth.json');
  await mkdir(file, { recursive: true });
  vi.stubEnv('XDG_RUNTIME_DIR', join(folder, 'run'));
  vi.stubEnv('DOCKER_CONFIG', folder);
  const auth = Buffer.from('me:secret').toString('base64');
  const auths = { 'r.example': { auth } };
  await writeFile(join(folder, 'config.json'), JSON.stringify({ auths }));
  const keychain = await loginKeychain();
  expect(keychain.shortcoming).toMatch(/^the logins cannot be read: EISDIR/);
  expect(keychain.credentialsFor(parseImageReference('r.example/a:v1'))).toEqual([
    { username: 'me', password: 'secret' },
  ]);
  await rm(join(folder, 'config.json'));
  expect((await loginKeychain()).shortcoming).toMatch(/^the logins cannot be read: EISDIR/);
});
