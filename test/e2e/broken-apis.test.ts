import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain, type Wanted } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const place = { kubectl, registry, prefix: 'broken-apis' };
const plural = 'brokengadgets.e2e.example.com';
const apiService = 'v1.silent.example.com';
const gadget = {
  apiVersion: 'e2e.example.com/v1',
  kind: 'BrokenGadget',
  metadata: { name: 'broken', namespace: 'default' },
  spec: { size: 1 },
};

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteNamed('apiservice', [apiService], { ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments');
  await kubectl.deleteNamed('crd', [plural], { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => await system.stop());

async function rollOut(wanted: Wanted): Promise<void> {
  await rollOutPlain(place, wanted);
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', wanted.name);
    const { generation } = found.metadata;
    expect(found['status']).toMatchObject({ observedGeneration: generation });
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
  });
}

/** Serves v1 and v2, converted by a webhook that nobody serves, or by the API server. */
async function define(conversion: object): Promise<void> {
  const { spec, ...rest } = aCRD('BrokenGadget') as KubernetesObject & {
    spec: { versions: readonly object[] };
  };
  const [v1] = spec.versions;
  const versions = [
    { ...v1, storage: true },
    { ...v1, name: 'v2', storage: false },
  ];
  await kubectl.apply({ ...rest, spec: { ...spec, versions, conversion } });
}

const url = 'https://127.0.0.1:1/convert';
const silent = {
  strategy: 'Webhook',
  webhook: { conversionReviewVersions: ['v1'], clientConfig: { url } },
};

async function isConverted(expected: boolean): Promise<void> {
  await eventually(async () => {
    const { code } = await kubectl.run(['get', '--raw', '/apis/e2e.example.com/v2/brokengadgets']);
    expect(code === 0).toBe(expected);
  });
}

test('what a conversion webhook in ruins hides is pruned once it is mended', async () => {
  await define({ strategy: 'None' });
  await isConverted(true);
  const v2 = { ...gadget, apiVersion: 'e2e.example.com/v2' };
  await rollOut({ name: 'converted', objects: [v2, aConfigMap('broken')] });
  await define(silent);
  await isConverted(false);
  await rollOutPlain(place, { name: 'converted', version: 2, objects: [aConfigMap('broken')] });
  const v1 = ['get', '--raw', '/apis/e2e.example.com/v1/namespaces/default/brokengadgets/broken'];
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'converted');
    const told = JSON.stringify((found['status'] as { conditions: object }).conditions);
    expect(told).toContain('BrokenGadget');
    expect(told).toContain('conversion webhook');
  });
  await kubectl.must(v1);
  await define({ strategy: 'None' });
  await eventually(async () => {
    expect((await kubectl.run(v1)).code).not.toBe(0);
    const found = await kubectl.get('bundledeployment', 'converted');
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
    expect(conditionOf(found, 'Progressing')).toBeUndefined();
  }, patiently);
});

test('an aggregated API that does not answer holds up no prune but a namespace’s, which says so', async () => {
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'broken-own' } };
  const objects = [aConfigMap('broken'), aConfigMap('broken-dropped'), own];
  await rollOut({ name: 'silent', objects });
  await kubectl.apply({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: apiService },
    spec: {
      group: 'silent.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { name: 'nobody', namespace: 'default' },
      insecureSkipTLSVerify: true,
    },
  });
  await eventually(async () => {
    const { code } = await kubectl.run(['get', '--raw', '/apis/silent.example.com/v1']);
    expect(code).not.toBe(0);
  });
  await rollOutPlain(place, { name: 'silent', version: 2, objects: [aConfigMap('broken')] });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'silent');
    const told = JSON.stringify((found['status'] as { conditions: object }).conditions);
    expect(told).toContain('broken-own');
    expect(told).toContain('silent.example.com');
    expect(await kubectl.exists('configmap', 'broken-dropped', 'default')).toBe(false);
  });
  expect(await kubectl.exists('namespace', 'broken-own')).toBe(true);
  await kubectl.deleteNamed('apiservice', [apiService]);
  await eventually(async () => {
    expect(await kubectl.exists('namespace', 'broken-own')).toBe(false);
    const found = await kubectl.get('bundledeployment', 'silent');
    expect(conditionOf(found, 'Progressing')).toBeUndefined();
  }, patiently);
});
