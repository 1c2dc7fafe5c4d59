import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { anObjectOf, FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { laptopFolders } from '../flags/core-flags.ts';
import { withClusterFolders } from './cluster-folders.ts';

const namespaces = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
const uid = 'c4f6e0a8-0000-4000-8000-000000000001';
const path = '/api/v1/namespaces/kube-system';
let api: FakeApiServer;

beforeAll(async () => {
  api = await FakeApiServer.start();
});

beforeEach(() => {
  api.reset();
  api.put(namespaces, anObjectOf(namespaces, 'kube-system', { metadata: { uid } }));
});

afterAll(() => api.stop());

async function placed(flags: object) {
  const { signal } = new AbortController();
  const given = { kubeconfig: api.kubeconfig, ...laptopFolders, ...flags };
  const found = await withClusterFolders(given, silentLogger, signal);
  const { uploadStorageDir, provisionerStorageDir } = found ?? {};
  return { uploadStorageDir, provisionerStorageDir };
}

test('each cluster has its own folders of uploads and archives', async () => {
  expect(await placed({})).toEqual({
    uploadStorageDir: `${laptopFolders.uploadStorageDir}/${uid}`,
    provisionerStorageDir: `${laptopFolders.provisionerStorageDir}/${uid}`,
  });
});

test('folders of flags stay as they are, and no cluster is asked', async () => {
  const own = { uploadStorageDir: '/a', provisionerStorageDir: '/b' };
  expect(await placed(own)).toEqual(own);
  expect(api.requests).toEqual([]);
});

test('waits for the API server', async () => {
  let isDown = true;
  api.answer(path, () => {
    if (!isDown) return anObjectOf(namespaces, 'kube-system', { metadata: { uid } });
    isDown = false;
    return { kind: 'Status', code: 503, message: 'starting' };
  });
  expect((await placed({})).uploadStorageDir).toContain(uid);
});

test('names the flags if the cluster does not say which one it is', async () => {
  api.answer(path, () => ({ kind: 'Status', code: 403, message: 'no access' }));
  await expect(placed({})).rejects.toThrow(
    'cannot read Namespace "kube-system", whose UID names the folders of this cluster (no access): pass --provisioner-storage-dir and --upload-storage-dir',
  );
});

test('ends with the signal', async () => {
  api.answer(path, () => ({ kind: 'Status', code: 503, message: 'starting' }));
  const given = { kubeconfig: api.kubeconfig, ...laptopFolders };
  expect(await withClusterFolders(given, silentLogger, AbortSignal.timeout(200))).toBeUndefined();
});
