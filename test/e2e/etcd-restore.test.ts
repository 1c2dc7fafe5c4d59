// @module-tag long
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layoutOf } from '../../deploy/local/cluster/layout.ts';
import { type Part, startPart, stopProcesses } from '../../deploy/local/cluster/processes.ts';
import { type Cluster, startCluster } from '../../deploy/local/cluster/start-cluster.ts';
import { readState, writeState } from '../../deploy/local/cluster/state.ts';
import { ClusterClient } from '../helpers/cluster-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const grace = 30_000;

let base: string;
let cluster: Cluster;
let kubectl: Kubectl;
let system: System;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'rukpak-etcd-'));
  // Of its own: the tests of other files must not go back in time.
  cluster = await startCluster({ dir: join(base, 'cluster'), serviceRange: '127.111.0.0/16' });
  kubectl = new Kubectl({ path: cluster.kubectl, kubeconfig: cluster.kubeconfig });
  system = await System.start(cluster);
});

afterAll(async () => {
  await system.stop();
  await ClusterClient.closeAll();
  await cluster.stop();
  await rm(base, { recursive: true, force: true });
});

async function partOf(name: string): Promise<Part> {
  const state = await readState(layoutOf(cluster.dir));
  const record = state?.processes.find((each) => each.name === name);
  if (record === undefined) throw new Error(`the cluster has no process ${name}`);
  const command = await readFile(`/proc/${record.pid}/cmdline`, 'utf8');
  const [binary = '', ...args] = command.split('\0').slice(0, -1);
  return { name, binary, args, log: record.log };
}

/** Stops etcd and the API server, and starts them again after `change` of the stopped etcd's data. */
async function withStoppedStore(change: (data: string) => Promise<void>): Promise<void> {
  const layout = layoutOf(cluster.dir);
  const parts = [await partOf('etcd'), await partOf('kube-apiserver')];
  const state = await readState(layout);
  if (state === undefined) throw new Error('the cluster is not up');
  const names = parts.map(({ name }) => name);
  const stopped = state.processes.filter(({ name }) => names.includes(name));
  await stopProcesses(stopped.toReversed(), grace);
  await change(layout.etcdData);
  const started = [];
  for (const part of parts) started.push(await startPart(part));
  const others = state.processes.filter(({ name }) => !names.includes(name));
  await writeState(layout, { ...state, processes: [...others, ...started] });
  await eventually(async () => await kubectl.must(['get', '--raw', '/readyz']));
}

async function dataOf(name: string): Promise<unknown> {
  return (await kubectl.get('configmap', name, 'default'))['data'];
}

async function pause(paused: boolean): Promise<void> {
  const patch = JSON.stringify({ spec: { paused } });
  await eventually(async () => {
    await kubectl.must(['patch', 'bundledeployment', 'restored', '--type=merge', '-p', patch]);
  });
}

test('after a restore of etcd the cluster is brought to what the restored objects ask for', async () => {
  const place = { kubectl, registry: cluster.registry, prefix: 'etcd' };
  const first = [aConfigMap('etcd-a', { a: '1' }), aConfigMap('etcd-b', { b: '1' })];
  await rollOutPlain(place, { name: 'restored', objects: first });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'restored');
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
  });
  await pause(true);
  const second = [aConfigMap('etcd-a', { a: '2' }), aConfigMap('etcd-c', { c: '2' })];
  const wanted = { name: 'restored', version: 2, objects: second, spec: { paused: true } };
  await rollOutPlain(place, wanted);
  const snapshot = join(base, 'snapshot');
  await withStoppedStore(async (data) => await cp(data, snapshot, { recursive: true }));

  async function expectSecond(): Promise<void> {
    await eventually(async () => {
      const found = await kubectl.get('bundledeployment', 'restored');
      expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(found, 'Progressing')).toBeUndefined();
      expect(await dataOf('etcd-a')).toEqual({ a: '2' });
      expect(await dataOf('etcd-c')).toEqual({ c: '2' });
      expect(await kubectl.exists('configmap', 'etcd-b', 'default'), system.log).toBe(false);
    });
  }

  await pause(false);
  await expectSecond();
  // What comes after the snapshot is more than what comes after the restore.
  for (let count = 0; count < 50; count += 1) {
    await kubectl.apply(aConfigMap('etcd-noise', { count: String(count) }));
  }

  await withStoppedStore(async (data) => {
    await rm(data, { recursive: true });
    await cp(snapshot, data, { recursive: true });
  });
  expect(await dataOf('etcd-a'), system.log).toEqual({ a: '1' });
  expect(await kubectl.exists('configmap', 'etcd-b', 'default')).toBe(true);
  // Of the second version this process has records, under which everything is as it was applied.
  await pause(false);
  await expectSecond();
});
