import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CtlResult, rukpakctl } from '../../../test/helpers/rukpakctl.ts';

const sample = join(import.meta.dirname, '../../../deploy/samples/howto/bundle');
const matching = ['--package=greeter', '--channels=candidate,stable', '--default-channel=stable'];
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'generate-'));
  await cp(sample, join(dir, 'bundle'), { recursive: true });
});

afterEach(() => rm(dir, { recursive: true }));

async function generate(...flags: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(['bundle', 'generate', 'bundle/manifests', ...flags], { cwd: dir });
}

async function text(name: string): Promise<string> {
  return await readFile(join(dir, name), 'utf8');
}

/** Makes files of a user where the command writes. */
async function own(...names: readonly string[]): Promise<void> {
  for (const name of names) await writeFile(join(dir, name), 'FROM mine\n');
}

test('existing files are kept, and named', async () => {
  await own('bundle.Dockerfile');
  const annotations = await text('bundle/metadata/annotations.yaml');
  expect(await generate(...matching)).toEqual({
    code: 0,
    stdout: `Kept bundle/metadata/annotations.yaml\nKept bundle.Dockerfile\n`,
    stderr: '',
  });
  expect(await text('bundle.Dockerfile')).toBe('FROM mine\n');
  expect(await text('bundle/metadata/annotations.yaml')).toBe(annotations);
});

test('manifests in the output directory are kept too', async () => {
  expect((await generate(...matching, '--output-dir=out')).code).toBe(0);
  await own('out/manifests/greetings.yaml');
  await rm(join(dir, 'bundle.Dockerfile'));
  const { stdout } = await generate(...matching, '--output-dir=out', '--output=json');
  expect(await text('out/manifests/greetings.yaml')).toBe('FROM mine\n');
  expect(await text('bundle.Dockerfile')).toContain('COPY out/manifests /manifests/\n');
  const names = ['greeter.clusterserviceversion.yaml', 'greetings.yaml'];
  expect(JSON.parse(stdout)).toMatchObject({
    kept: [...names.map((name) => `out/manifests/${name}`), 'out/metadata/annotations.yaml'],
  });
});

test('annotations that say something else are an error, and are kept', async () => {
  const { code, stderr } = await generate('--package=other', '--channels=stable');
  expect(code).toBe(1);
  expect(stderr).toContain('to have value "other" instead of "greeter"');
  expect(stderr).toContain(': --overwrite replaces bundle/metadata/annotations.yaml\n');
  expect(await text('bundle/metadata/annotations.yaml')).toContain('greeter');
});

test('--overwrite replaces all', async () => {
  await own('bundle.Dockerfile');
  const { code, stdout } = await generate('--package=other', '--channels=stable', '--overwrite');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Writing annotations.yaml in ${join(dir, 'bundle/metadata')}\nWriting bundle.Dockerfile in ${dir}\n`,
  });
  expect(await text('bundle/metadata/annotations.yaml')).toContain('package.v1: other');
  expect(await text('bundle.Dockerfile')).toContain('FROM scratch\n');
});
