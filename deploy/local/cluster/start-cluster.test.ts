// @module-tag process
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startOf } from '../../../core/platform/runtime/processes.ts';
import { layoutOf } from './layout.ts';
import { type ProcessRecord } from './processes.ts';
import { startCluster } from './start-cluster.ts';
import { writeState } from './state.ts';
import { stopCluster } from './stop-cluster.ts';

let base: string;
let dir: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rukpak-start-'));
  dir = join(base, 'cluster');
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

function ended(name: string): ProcessRecord {
  return { name, pid: 1, started: 'before the boot', log: '' };
}

async function running(name: string): Promise<ProcessRecord> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill());
  const { pid = 0 } = child;
  return { name, pid, started: (await startOf(pid)) ?? '', log: '' };
}

/** The folder of a cluster with data, of which these processes are recorded. */
async function aCluster(ready: boolean, ...processes: readonly ProcessRecord[]): Promise<void> {
  const layout = layoutOf(dir);
  for (const folder of [layout.etcdData, layout.registryData]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'data'), '');
  }
  const state = { server: '', registry: '', kubectl: '', ready, processes, companions: [] };
  await writeState(layout, state);
}

/** Starts nothing: it ends where the folder is found to be free. */
async function start(): Promise<unknown> {
  const end = new AbortController();
  return await startCluster({ dir, signal: end.signal, onProgress: () => end.abort() }).catch(
    ({ message }: Error) => message,
  );
}

const remedy = () =>
  `nothing was changed; "npm run cluster -- down --dir ${dir}" removes it with its data`;

test('a cluster of which a part has ended is neither replaced nor stopped', async () => {
  const etcd = await running('etcd');
  await aCluster(true, etcd, ended('registry'), ended('kwok'));
  expect(await start()).toBe(
    `the cluster in ${dir} is not up, because registry and kwok have ended: ${remedy()}`,
  );
  expect(await startOf(etcd.pid)).toBe(etcd.started);
  expect(readdirSync(dir).toSorted()).toEqual(['cluster.json', 'etcd', 'registry']);
  expect(existsSync(join(dir, 'etcd/data'))).toBe(true);
});

test('a cluster that did not start as a whole is not replaced either', async () => {
  await aCluster(false, await running('etcd'));
  expect(await start()).toBe(
    `the cluster in ${dir} is not up, because its start did not finish: ${remedy()}`,
  );
  expect(existsSync(join(dir, 'etcd/data'))).toBe(true);
});

test('a stopped cluster’s folder keeps what somebody else has put there', async () => {
  await aCluster(true, ended('etcd'));
  const files = ['kubeconfig', 'audit.log', 'audit-2026-01-01T00-00-00.000.log', 'notes.yaml'];
  for (const name of files) writeFileSync(join(dir, name), '');
  mkdirSync(join(dir, 'work'));
  expect(await stopCluster(dir)).toEqual({ kept: ['notes.yaml', 'work'] });
  expect(readdirSync(dir).toSorted()).toEqual(['notes.yaml', 'work']);
});

test('a stopped cluster’s folder is removed', async () => {
  await aCluster(true, ended('etcd'));
  expect(await stopCluster(dir)).toEqual({ kept: [] });
  expect(existsSync(dir)).toBe(false);
  expect(await stopCluster(dir)).toBeUndefined();
});
