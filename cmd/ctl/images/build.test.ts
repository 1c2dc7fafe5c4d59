import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rukpakctl } from '../../../test/helpers/rukpakctl.ts';

const bundle = join(import.meta.dirname, '../../../deploy/samples/howto/bundle');
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'build-'));
});

afterEach(() => rm(dir, { recursive: true }));

test('build writes a Dockerfile for the same image', async () => {
  const to = `oci-archive:${join(dir, 'bundle.tar')}:v1`;
  const args = ['bundle', 'build', bundle, '--to', to, '--dockerfile', 'bundle.Dockerfile'];
  expect(await rukpakctl(args, { cwd: dir })).toMatchObject({ code: 0 });
  const text = await readFile(join(dir, 'bundle.Dockerfile'), 'utf8');
  expect(text).toContain('FROM scratch\n');
  expect(text).toContain(`COPY ["${relative(dir, bundle)}/manifests","/manifests/"]`);
});

test('build refuses an image of Docker’s format for an OCI layout', async () => {
  const args = ['bundle', 'build', bundle, '--to', `oci:${join(dir, 'a')}`, '--format', 'docker'];
  const { code, stderr } = await rukpakctl(args);
  expect(code).toBe(1);
  expect(stderr).toContain('--format docker is for registries');
});
