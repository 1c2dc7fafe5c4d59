// @module-tag process
import { chmod, mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { BINARY_NAMES } from './catalogue.ts';
import type { Obtain } from './find-binaries.ts';
import { cacheFolder, findBinaries, folderOf } from './find-binaries.ts';

const SERVERS = BINARY_NAMES.filter((name) => name !== 'kubectl');

let dir: string;
let env: NodeJS.ProcessEnv;
let cache: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-binaries-'));
  env = { XDG_CACHE_HOME: join(dir, 'cache'), PATH: join(dir, 'path') };
  cache = await cacheFolder(env);
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function put(folder: string, names: readonly string[], prints = ''): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    await writeFile(join(folder, name), `#!/bin/sh\necho '${prints}'\n`);
    await chmod(join(folder, name), 0o755);
  }
}

const obtaining = (until: () => void = () => undefined) =>
  vi.fn<Obtain>(async (names, folder) => {
    await eventually(until);
    await put(folder, names);
  });

function find(obtain: Obtain, lines: string[] = []) {
  const signal = new AbortController().signal;
  return findBinaries({ env, obtain, signal, onProgress: (line) => lines.push(line) });
}

test('KUBEBUILDER_ASSETS comes first, then the cache, then PATH, then the rest is obtained', async () => {
  const assets = join(dir, 'assets');
  env['KUBEBUILDER_ASSETS'] = assets;
  await put(assets, ['etcd', 'kube-apiserver']);
  await put(cache, ['etcd', 'kube-apiserver', 'kwok']);
  await put(join(dir, 'path'), ['kwok'], 'kwok version v0.8.0');
  await put(join(dir, 'path'), ['kube-scheduler'], 'Kubernetes v1.36.3');
  const obtain = obtaining();
  const found = await find(obtain);
  expect(found).toEqual({
    etcd: join(assets, 'etcd'),
    'kube-apiserver': join(assets, 'kube-apiserver'),
    kwok: join(cache, 'kwok'),
    'kube-scheduler': join(dir, 'path', 'kube-scheduler'),
    'kube-controller-manager': join(cache, 'kube-controller-manager'),
    registry: join(cache, 'registry'),
    kubectl: join(cache, 'kubectl'),
  });
  expect(obtain).toHaveBeenCalledOnce();
  expect(obtain.mock.calls[0]?.[0]).toEqual(['kube-controller-manager', 'registry', 'kubectl']);
});

test('what is all there is not obtained again', async () => {
  await put(cache, BINARY_NAMES);
  const obtain = obtaining();
  await find(obtain);
  expect(obtain).not.toHaveBeenCalled();
});

test('two at once obtain only once, and the second says what it waits for', async () => {
  const lines: string[] = [];
  const waiting = 'waiting for another process that is getting the binaries';
  const said = () => expect(lines).toContain(waiting);
  const first = obtaining(said);
  const second = obtaining(said);
  const [one, two] = await Promise.all([find(first, lines), find(second, lines)]);
  expect(one).toEqual(two);
  expect(first.mock.calls.length + second.mock.calls.length).toBe(1);
  expect(await readdir(cache)).not.toContain('.lock');
});

test('a failure is passed on and leaves no lock behind', async () => {
  const failing: Obtain = () => Promise.reject(new Error('no way'));
  await expect(find(failing)).rejects.toThrow('no way');
  expect(await readdir(cache)).toEqual([]);
});

test('what did not appear is named', async () => {
  await put(cache, SERVERS);
  await expect(find(() => Promise.resolve())).rejects.toThrow(`kubectl did not appear in ${cache}`);
});

test('the folder is the one they all lie in; kubectl on PATH does not count', async () => {
  await put(cache, SERVERS);
  await put(join(dir, 'path'), ['kubectl'], 'Client Version: v1.36.3');
  expect(await folderOf(await find(obtaining()), env)).toBe(cache);
});

test('of several folders it is one with links to them all', async () => {
  env['KUBEBUILDER_ASSETS'] = join(dir, 'assets');
  await put(join(dir, 'assets'), ['etcd']);
  await put(cache, BINARY_NAMES);
  const found = await find(obtaining());
  const folder = await folderOf(found, env);
  expect((await readdir(folder)).toSorted()).toEqual(BINARY_NAMES.toSorted());
  expect(await readlink(join(folder, 'etcd'))).toBe(join(dir, 'assets', 'etcd'));
  expect(await folderOf(found, env)).toBe(folder);
});

test('a relative XDG_CACHE_HOME is ignored, as its specification demands', async () => {
  const folder = await cacheFolder({ XDG_CACHE_HOME: 'cache', HOME: '/home/someone' });
  expect(folder).toMatch(/^\/home\/someone\/\.cache\/rukpak-ts\/control-plane\/[0-9a-f]{16}-/);
});
