// @module-tag long
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiRequest, AuditLog, isWrite, summary } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import {
  aBundleDeployment,
  aConfigMap,
  aDeployment,
  aService,
  aServiceAccount,
} from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

const count = 50;
/** Milliseconds without a request after which the system is at rest. */
const quiet = 10_000;
const minute = 60_000;

let system: System;
let kubectl: Kubectl;
let audit: AuditLog;

beforeAll(async () => {
  const kubeconfig = plane.kubeconfig;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  audit = new AuditLog(plane.clusterDir);
  // With a lease, as in a real cluster.
  const flags = ['--leader-elect'];
  system = await System.start({ kubeconfig, registry: plane.registry, flags });
});

afterAll(async () => {
  try {
    await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
    await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  } finally {
    await system.stop();
  }
});

async function installAll(): Promise<void> {
  const deployments: object[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = `idle-${index}`;
    const objects = [aDeployment(name), aConfigMap(name), aService(name), aServiceAccount(name)];
    const content = { registry: plane.registry, name, version: 1, files: plainFiles(objects) };
    deployments.push(aBundleDeployment({ name, source: await pushContent(content) }));
  }
  await kubectl.apply(...deployments);
}

async function allHealthy(): Promise<void> {
  const deployments = await kubectl.list('bundledeployments');
  const healthy = deployments.filter((one) => conditionOf(one, 'Healthy')?.status === 'True');
  expect(healthy).toHaveLength(count);
  // What others have left goes in its own time, and each costs a request.
  expect(await kubectl.list('bundles')).toHaveLength(count);
}

/** Watches wait for news and the lease must be held: neither costs more the more is installed. */
function isAllowed({ verb, resource }: ApiRequest): boolean {
  return verb === 'watch' || resource === 'leases';
}

/** Waits for a while without any other request; the requests since a position until then. */
async function untilQuiet(since: number): Promise<readonly ApiRequest[]> {
  return eventually(
    async () => {
      const start = await audit.position();
      await delay(quiet);
      const disturbances = (await audit.since(start)).filter((one) => !isAllowed(one));
      expect(summary(disturbances)).toBe('nothing');
      return audit.since(since);
    },
    { within: 400_000 },
  );
}

test('fifty deployments at rest cost watches and lease renewals only', async () => {
  const start = await audit.position();
  await installAll();
  await eventually(allHealthy, { within: 400_000, every: 1_000 });
  console.log(`idle: installing ${count} took: ${summary(await untilQuiet(start))}`);
  const idle = await audit.position();
  await delay(minute);
  const requests = await audit.since(idle);
  console.log(`idle: a minute with ${count} installed took: ${summary(requests)}`);
  expect(requests.length).toBeGreaterThan(0);
  expect(summary(requests.filter((one) => !isAllowed(one)))).toBe('nothing');
});

test('a restart recognises what is installed and writes nothing', async () => {
  expect(await system.terminate()).toBe(0);
  const start = await audit.position();
  await system.restart();
  const requests = await untilQuiet(start);
  console.log(`idle: a restart with ${count} installed took: ${summary(requests)}`);
  const written = requests.filter((one) => isWrite(one) && one.resource !== 'leases');
  // Who leads now.
  expect(summary(written)).toBe('create events 1');
  // It has looked at them.
  const kinds = requests.filter(({ verb }) => verb === 'watch').map(({ resource }) => resource);
  expect(kinds).toContain('serviceaccounts');
  // A watch begins with everything: no kind is listed besides.
  expect(requests.filter(({ verb }) => verb === 'list')).toEqual([]);
  await allHealthy();
});
