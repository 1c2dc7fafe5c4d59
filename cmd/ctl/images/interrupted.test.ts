import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawnRukpakctl } from '../../../test/helpers/rukpakctl.ts';

const bundle = join(import.meta.dirname, '../../../deploy/samples/howto/bundle');
/** A registry that never answers. */
const silent = createServer((request) => void request.resume());
let dir = '';
let host = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'interrupted-'));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
});

afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await rm(dir, { recursive: true });
});

test('mirror leaves no temporary files after SIGTERM', { tags: ['process'] }, async () => {
  const config = join(dir, 'image-set.yaml');
  const text = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' };
  const mirror = { additionalImages: [{ name: `${host}/team/image:v1` }] };
  await writeFile(config, JSON.stringify({ ...text, mirror }));
  let child: ChildProcess | undefined;
  silent.once('request', () => void child?.kill('SIGTERM'));
  const to = ['--to', `${host}/mirror`, '--results', join(dir, 'results')];
  const args = ['mirror', '--config', config, ...to, '--insecure-registry', host];
  const { code, stderr } = await spawnRukpakctl(args, {
    env: { TMPDIR: dir, DOCKER_CONFIG: dir },
    onStart: (started) => {
      child = started;
    },
  });
  expect(stderr).toContain('interrupted: run the same command again to go on');
  expect(code).toBe(1);
  expect((await readdir(dir)).filter((name) => name.startsWith('rukpak-'))).toEqual([]);
});

test.each<[string, (image: string) => readonly string[]]>([
  ['catalog render', (image) => [image]],
  ['catalog list', (image) => [image]],
  ['catalog validate', (image) => [image]],
  ['catalog migrate', (image) => [image, join(dir, 'migrated')]],
  ['bundle build', (image) => [bundle, '--to', image]],
])('%s leaves no temporary files after Ctrl-C', { tags: ['process'] }, async (command, args) => {
  const image = `${host}/team/image:v1`;
  const flags = ['--insecure-registry', host];
  let child: ChildProcess | undefined;
  const interrupt = (): void => void child?.kill('SIGINT');
  silent.once('request', interrupt);
  const { code, stderr } = await spawnRukpakctl([...command.split(' '), ...args(image), ...flags], {
    env: { TMPDIR: dir, DOCKER_CONFIG: dir },
    onStart: (started) => {
      child = started;
    },
  });
  silent.off('request', interrupt);
  expect(stderr).toContain('received SIGINT');
  expect(code).toBe(1);
  expect((await readdir(dir)).filter((name) => name.startsWith('rukpak-'))).toEqual([]);
});
