import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const audit = new AuditLog(plane.clusterDir);
const place = { kubectl, registry, prefix: 'finished' };
const marker = 'finished-marker';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => await system.stop());

function aJob(name: string, { spec = {}, image = 'example.invalid/none:1' } = {}): object {
  const containers = [{ name: 'main', image }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, template: { spec: { restartPolicy: 'Never', containers } } },
  };
}

async function statusOf(name: string): Promise<{ readonly finished?: object }> {
  return (await kubectl.get('bundledeployment', name))['status'] ?? {};
}

async function isFinished(name: string): Promise<void> {
  await eventually(async () => {
    const objects = [expect.objectContaining({ kind: 'Job', outcome: 'Succeeded' })];
    expect((await statusOf(name)).finished).toMatchObject({ objects });
  });
}

async function isGone(job: string): Promise<void> {
  await eventually(async () => expect(await kubectl.exists('job', job, 'default')).toBe(false));
}

/** A repair that comes after everything before shows that nothing else was repaired. */
async function isReviewed(): Promise<void> {
  await kubectl.deleteNamed('configmap', [marker], { namespace: 'default' });
  await eventually(async () => {
    expect(await kubectl.exists('configmap', marker, 'default')).toBe(true);
  });
}

async function isHealthy(name: string): Promise<KubernetesObject> {
  return await eventually(async () => {
    const found = await kubectl.get('bundledeployment', name);
    expect(found['status']).toMatchObject({ observedGeneration: found.metadata.generation });
    expect(conditionOf(found, 'Healthy')).toMatchObject({ status: 'True' });
    return found;
  });
}

async function jobWritesSince(position: number): Promise<number> {
  const requests = await audit.since(position);
  return requests.filter(({ resource, verb }) => resource === 'jobs' && verb === 'patch').length;
}

test('a Job that Kubernetes deleted after its end does not run again before the next Bundle', async () => {
  const spec = { ttlSecondsAfterFinished: 0 };
  const objects = [aJob('finished-ttl', { spec }), aConfigMap(marker)];
  const position = await audit.position();
  await rollOutPlain(place, { name: 'ttl', objects });
  await isFinished('ttl');
  await isGone('finished-ttl');
  await isHealthy('ttl');
  await isReviewed();
  expect(await kubectl.exists('job', 'finished-ttl', 'default')).toBe(false);

  await system.terminate();
  await system.restart();
  await isReviewed();
  await isHealthy('ttl');
  expect(await kubectl.exists('job', 'finished-ttl', 'default')).toBe(false);
  await eventually(async () => expect(await jobWritesSince(position)).toBe(1));

  const image = 'example.invalid/none:2';
  const next = [aJob('finished-ttl', { spec, image }), aConfigMap(marker)];
  await rollOutPlain(place, { name: 'ttl', version: 2, objects: next });
  await eventually(async () => expect(await jobWritesSince(position)).toBe(2));
  await isFinished('ttl');
});

test('a Job that others deleted after its end is done as well, and one that ran is not', async () => {
  const objects = [aJob('finished-other'), aConfigMap(marker)];
  await rollOutPlain(place, { name: 'other', objects });
  await isFinished('other');
  await kubectl.deleteNamed('job', ['finished-other'], { namespace: 'default' });
  await isReviewed();
  expect(await kubectl.exists('job', 'finished-other', 'default')).toBe(false);
  await isHealthy('other');

  const suspended = aJob('finished-suspended', { spec: { suspend: true } });
  await rollOutPlain(place, { name: 'running', objects: [suspended] });
  const { metadata } = await eventually(
    async () => await kubectl.get('job', 'finished-suspended', 'default'),
  );
  await kubectl.deleteNamed('job', ['finished-suspended'], { namespace: 'default' });
  await eventually(async () => {
    const made = await kubectl.get('job', 'finished-suspended', 'default');
    expect(made.metadata.uid).not.toBe(metadata.uid);
  });
});
