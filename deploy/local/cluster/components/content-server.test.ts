import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layoutOf } from '../layout.ts';
import { writeState } from '../state.ts';
import {
  announceContentServer,
  announcedContentServer,
  contentServerCertificate,
  localControlPlane,
} from './content-server.ts';

const server = 'https://127.0.0.1:16443';
const isRoot = process.getuid?.() === 0;
let folder: string;
let kubeconfig: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rukpak-local-'));
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, '');
  const state = { server, registry: '', kubectl: '', ready: true, processes: [], companions: [] };
  await writeState(layoutOf(folder), state);
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a control plane of this machine is known by the folder of its kubeconfig', async () => {
  const files = [join(folder, 'none/kubeconfig'), kubeconfig];
  expect(await localControlPlane({ files, server })).toEqual(layoutOf(folder));
  expect(await localControlPlane({ files, server: 'https://elsewhere' })).toBeUndefined();
  expect(await localControlPlane({ files: [], server })).toBeUndefined();
});

test("another program's file of that name is none of ours", async () => {
  writeFileSync(layoutOf(folder).state, '{"name": "something else"}');
  expect(await localControlPlane({ files: [kubeconfig], server })).toBeUndefined();
});

test('what was announced last is where the content server is', async () => {
  const layout = layoutOf(folder);
  expect(await announcedContentServer(layout)).toBeUndefined();
  await announceContentServer(layout, 'https://127.0.0.1:8080');
  await announceContentServer(layout, 'https://127.0.0.1:8090');
  const caFile = join(folder, 'pki/ca.crt');
  expect(await announcedContentServer(layout)).toEqual({ url: 'https://127.0.0.1:8090', caFile });
});

test('a control plane of before has no certificate for it', async () => {
  const layout = layoutOf(folder);
  expect(await contentServerCertificate(layout)).toBeUndefined();
  mkdirSync(layout.pki);
  writeFileSync(join(layout.pki, 'contentServer.crt'), '');
  expect(await contentServerCertificate(layout)).toEqual({
    certFile: join(layout.pki, 'contentServer.crt'),
    keyFile: join(layout.pki, 'contentServer.key'),
  });
});

test.runIf(isRoot)('in a folder that many write to, nobody else says where it is', async () => {
  const layout = layoutOf(folder);
  await announceContentServer(layout, 'https://127.0.0.1:8080');
  chownSync(layout.contentServer, 12_345, 12_345);
  expect(await announcedContentServer(layout)).toBeUndefined();
  chownSync(layout.state, 12_345, 12_345);
  expect(await localControlPlane({ files: [kubeconfig], server })).toBeUndefined();
});
