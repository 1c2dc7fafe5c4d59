import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

describe.each([
  ['build', (to: string) => ['bundle', 'build', bundle, '--to', to]],
  ['push', (to: string) => ['bundle', 'push', `oci:${join(dir, 'from')}:v1`, to]],
])('%s into a tar', (_command, args) => {
  const file = () => join(dir, 'bundle.tar');
  const run = async (...more: readonly string[]) =>
    await rukpakctl([...args(`oci-archive:${file()}:v1`), ...more]);

  beforeEach(async () => {
    const from = ['bundle', 'build', bundle, '--to', `oci:${join(dir, 'from')}:v1`];
    expect(await rukpakctl(from)).toMatchObject({ code: 0 });
  });

  /** What is there besides the layout to push from, by name. */
  async function files(): Promise<Readonly<Record<string, string>>> {
    const names = (await readdir(dir)).filter((name) => name !== 'from');
    const texts = names.map(async (name) => [name, await readFile(join(dir, name), 'latin1')]);
    return Object.fromEntries(await Promise.all(texts)) as Readonly<Record<string, string>>;
  }

  test('leaves a file as it is that is there', async () => {
    await writeFile(file(), 'a file');
    const { code, stderr } = await run();
    expect(stderr).toContain(`${file()} exists: name another file, or replace it with --overwrite`);
    expect(code).toBe(1);
    expect(await files()).toEqual({ 'bundle.tar': 'a file' });
  });

  test('replaces it with --overwrite', async () => {
    await writeFile(file(), 'a file');
    expect(await run('--overwrite')).toMatchObject({ code: 0 });
    expect(Object.keys(await files())).toEqual(['bundle.tar']);
    const read = ['bundle', 'push', `oci-archive:${file()}:v1`, `oci:${join(dir, 'from')}:v2`];
    expect(await rukpakctl(read)).toMatchObject({ code: 0 });
  });

  test('leaves what an interrupted mirror has left as it is', async () => {
    await writeFile(`${file()}.partial`, 'a mirror');
    const { code, stderr } = await run('--overwrite');
    expect(stderr).toContain(
      `${file()}.partial of an interrupted run of rukpakctl mirror is there: name another file`,
    );
    expect(code).toBe(1);
    expect(await files()).toEqual({ 'bundle.tar.partial': 'a mirror' });
  });

  test('leaves both as they are when it fails', async () => {
    await writeFile(file(), 'a file');
    await writeFile(`${file()}.partial`, 'a mirror');
    await rm(join(dir, 'from'), { recursive: true });
    const failing = args(`oci-archive:${file()}:v1`).map((arg) =>
      arg === bundle ? join(dir, 'from') : arg,
    );
    expect(await rukpakctl(failing)).toMatchObject({ code: 1 });
    expect(await files()).toEqual({ 'bundle.tar': 'a file', 'bundle.tar.partial': 'a mirror' });
  });
});

test('build keeps a Dockerfile with other content, and makes no image then', async () => {
  const to = join(dir, 'bundle.tar');
  const args = ['bundle', 'build', bundle, '--to', `oci-archive:${to}`];
  const build = async (...more: readonly string[]) =>
    await rukpakctl([...args, '--dockerfile', 'Dockerfile', ...more], { cwd: dir });
  await writeFile(join(dir, 'Dockerfile'), 'FROM mine\n');
  expect(await build()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Dockerfile exists: name another file, or replace it with'),
  });
  expect(await readdir(dir)).toEqual(['Dockerfile']);
  expect(await readFile(join(dir, 'Dockerfile'), 'utf8')).toBe('FROM mine\n');

  expect(await build('--overwrite')).toMatchObject({ code: 0 });
  const text = await readFile(join(dir, 'Dockerfile'), 'utf8');
  expect(text).toContain('FROM scratch\n');
  await rm(to);
  expect(await build()).toMatchObject({ code: 0 });
  expect(await readFile(join(dir, 'Dockerfile'), 'utf8')).toBe(text);
});
