import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultContent } from '../../core/manager/index.ts';
import {
  announceContentServer,
  announcedContentServer,
} from '../../deploy/local/cluster/components/content-server.ts';
import { type Layout, layoutOf } from '../../deploy/local/cluster/layout.ts';
import { writeState } from '../../deploy/local/cluster/state.ts';
import { withLocalContentServer } from './local-content-server.ts';

const server = 'https://127.0.0.1:16443';
const url = 'https://127.0.0.1:8080';
let layout: Layout;
let flags: Parameters<typeof withLocalContentServer>[0];

beforeEach(async () => {
  layout = layoutOf(mkdtempSync(join(tmpdir(), 'local-content-server-')));
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(layout.kubeconfig, JSON.stringify(config));
  mkdirSync(layout.pki);
  writeFileSync(join(layout.pki, 'contentServer.crt'), '');
  const state = { server, registry: '', kubectl: '', ready: true, processes: [], companions: [] };
  await writeState(layout, state);
  flags = {
    kubeconfig: layout.kubeconfig,
    httpBindAddress: '127.0.0.1:8080',
    httpExternalAddress: defaultContent.externalAddress,
  };
});

afterEach(() => rmSync(layout.dir, { recursive: true }));

async function announced(): Promise<string | undefined> {
  return (await announcedContentServer(layout))?.url;
}

test('the content server is announced until the process has stopped', async () => {
  let during: unknown;
  await withLocalContentServer(flags, async ({ httpExternalAddress }) => {
    during = [httpExternalAddress, await announced()];
  });
  expect(during).toEqual([url, url]);
  expect(existsSync(layout.contentServer)).toBe(false);
});

test('the announcement of another process stays', async () => {
  const other = 'https://127.0.0.1:8090';
  await withLocalContentServer(flags, async () => await announceContentServer(layout, other));
  expect(await announced()).toBe(other);
});

test('that of a process with the same address stays when this one cannot listen', async () => {
  await announceContentServer(layout, url);
  const failure = async () => await Promise.reject(new Error('listen EADDRINUSE'));
  await expect(withLocalContentServer(flags, failure)).rejects.toThrow('EADDRINUSE');
  expect(await announced()).toBe(url);
});

test('a process that fails withdraws its own announcement', async () => {
  const failure = async () => await Promise.reject(new Error('the Lease is held'));
  await expect(withLocalContentServer(flags, failure)).rejects.toThrow('the Lease is held');
  expect(await announced()).toBeUndefined();
});

test('a process that fails leaves what another one has announced before or meanwhile', async () => {
  const [first, third] = ['https://127.0.0.1:8090', 'https://127.0.0.1:8091'];
  await announceContentServer(layout, first);
  const failure = async () => await Promise.reject(new Error('the Lease is held'));
  await expect(withLocalContentServer(flags, failure)).rejects.toThrow('the Lease is held');
  expect(await announced()).toBe(first);
  const replaced = withLocalContentServer(flags, async () => {
    await announceContentServer(layout, third);
    await failure();
  });
  await expect(replaced).rejects.toThrow('the Lease is held');
  expect(await announced()).toBe(third);
});

test('a control plane that was deleted meanwhile is no failure', async () => {
  await withLocalContentServer(flags, async () => {
    rmSync(layout.dir, { recursive: true });
    mkdirSync(layout.dir);
  });
  expect(existsSync(layout.contentServer)).toBe(false);
});
