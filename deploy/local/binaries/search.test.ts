// @module-tag process
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { versionAfter } from './modules.ts';
import { inFolder, onPath } from './search.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-search-'));
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

async function program(folder: string, name: string, prints: string): Promise<string> {
  await mkdir(join(dir, folder), { recursive: true });
  const file = join(dir, folder, name);
  await writeFile(file, `#!/bin/sh\necho '${prints}'\n`);
  await chmod(file, 0o755);
  return file;
}

test('a file that may not be run, or a folder, is no binary', async () => {
  const file = await program('a', 'etcd', '');
  expect(await inFolder(join(dir, 'a'), 'etcd')).toBe(file);
  await chmod(file, 0o644);
  expect(await inFolder(join(dir, 'a'), 'etcd')).toBeUndefined();
  await mkdir(join(dir, 'a', 'kwok'));
  expect(await inFolder(join(dir, 'a'), 'kwok')).toBeUndefined();
});

test('PATH gives the first binary whose version serves', async () => {
  await program('old', 'kube-apiserver', 'Kubernetes v1.20.4');
  const fitting = await program('new', 'kube-apiserver', 'Kubernetes v1.36.0-rc.1');
  await program('later', 'kube-apiserver', 'Kubernetes v1.36.3');
  const path = ['old', 'absent', 'new', 'later'].map((name) => join(dir, name)).join(':');
  expect(await onPath(path, 'kube-apiserver')).toBe(fitting);
});

test('another program of the name is passed over', async () => {
  await program('a', 'registry', 'npm registry manager v3.1.2');
  expect(await onPath(join(dir, 'a'), 'registry')).toBeUndefined();
});

test('kubectl may be some versions older or newer than the servers', async () => {
  const older = await program('older', 'kubectl', 'Client Version: v1.32.4-dispatcher');
  expect(await onPath(join(dir, 'older'), 'kubectl')).toBe(older);
  await program('ancient', 'kubectl', 'Client Version: v1.19.0');
  expect(await onPath(join(dir, 'ancient'), 'kubectl')).toBeUndefined();
});

test('a binary that fails, and a relative entry of PATH, are passed over', async () => {
  await program('a', 'etcd', 'etcd Version: 3.6.8');
  const failing = await program('b', 'etcd', '');
  await writeFile(failing, '#!/bin/sh\necho "etcd Version: 3.6.8"; exit 1\n');
  expect(await onPath(`a:${join(dir, 'b')}`, 'etcd')).toBeUndefined();
});

test('a version is read only after its prefix', () => {
  expect(versionAfter('Version: v', 'go1.26.8\nVersion: v3.6.8+dirty')).toEqual([3, 6, 8]);
  expect(versionAfter('Version: v', 'Version: latest')).toBeUndefined();
  expect(versionAfter('Version: v', '1.2.3')).toBeUndefined();
});
