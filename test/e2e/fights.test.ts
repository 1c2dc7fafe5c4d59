import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD, aDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain, type Wanted } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const audit = new AuditLog(plane.clusterDir);
const hold = 'e2e.example.com/hold';
const marker = 'fights-marker';
const policies = 'mutatingadmissionpolicy,mutatingadmissionpolicybinding';
const path = '/apis/e2e.example.com/v1/fighters';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteNamed(policies, ['fights'], { ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments');
  await kubectl.deleteNamed('crd', ['fighters.e2e.example.com'], { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => await system.stop());

async function rollOut(wanted: Wanted): Promise<void> {
  await rollOutPlain({ kubectl, registry, prefix: 'fights' }, wanted);
  const { generation } = (await kubectl.get('bundledeployment', wanted.name)).metadata;
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', wanted.name);
    expect(found['status']).toMatchObject({ observedGeneration: generation });
    expect(conditionOf(found, 'HasValidBundle')).toMatchObject({ reason: 'UnpackSuccessful' });
    expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
  });
}

async function patch(kind: string, name: string, change: object): Promise<void> {
  const flags = ['--namespace=default', '--type=merge', '-p', JSON.stringify(change)];
  await kubectl.must(['patch', kind, name, '--field-manager=stranger', ...flags]);
}

/** A repair that comes after everything before shows that core has looked at all of it. */
async function isReviewed(): Promise<void> {
  const { uid } = (await kubectl.get('configmap', marker, 'default')).metadata;
  await kubectl.deleteNamed('configmap', [marker], { namespace: 'default' });
  await eventually(async () => {
    const made = await kubectl.get('configmap', marker, 'default');
    expect(made.metadata.uid).not.toBe(uid);
  });
}

async function writesSince(position: number, resource: string): Promise<number> {
  const requests = await audit.since(position);
  return requests.filter((request) => request.resource === resource && request.verb === 'patch')
    .length;
}

test('marks of Flux and Argo CD on our objects are left, also by an upgrade', async () => {
  const objects = [aDeployment('fights-marked'), aConfigMap(marker)];
  await rollOut({ name: 'marked', objects });
  const marks = {
    labels: {
      'kustomize.toolkit.fluxcd.io/name': 'theirs',
      'app.kubernetes.io/instance': 'theirs',
    },
    annotations: { 'argocd.argoproj.io/tracking-id': 'theirs:apps/Deployment:default/x' },
  };
  await patch('deployment', 'fights-marked', { metadata: marks });
  const position = await audit.position();
  await isReviewed();
  await eventually(async () => expect(await writesSince(position, 'configmaps')).toBe(1));
  expect(await writesSince(position, 'deployments')).toBe(0);
  const next = aDeployment('fights-marked', { image: 'example.invalid/none:2' });
  await rollOut({ name: 'marked', version: 2, objects: [next, aConfigMap(marker)] });
  const { metadata, ...rest } = await kubectl.get('deployment', 'fights-marked', 'default');
  expect(metadata).toMatchObject(marks);
  expect(JSON.stringify(rest['spec'])).toContain('none:2');
});

test('with another manager that applies by force core pauses, and says so', async () => {
  await rollOut({ name: 'forced', objects: [aConfigMap('fights-forced', { a: 'ours' })] });
  const theirs = JSON.stringify(aConfigMap('fights-forced', { a: 'theirs' }));
  const force = ['--server-side', '--force-conflicts', '--field-manager=fighter'];
  const position = await audit.position();
  await eventually(async () => {
    const { data } = (await kubectl.get('configmap', 'fights-forced', 'default')) as {
      data?: object;
    } & KubernetesObject;
    if (JSON.stringify(data).includes('ours')) {
      await kubectl.must(['apply', '-f', '-', ...force], theirs);
    }
    const told = (await kubectl.list('events')).map((event) => String(event['reason']));
    expect(told).toContain('RepairPaused');
  });
  // Theirs are among them.
  expect(await writesSince(position, 'configmaps')).toBeLessThan(20);
});

test('labels and sidecars that admission adds are no drift', async () => {
  const api = 'admissionregistration.k8s.io/v1';
  const rule = {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['deployments'],
  };
  const sidecar = '[Object.spec.template.spec.containers{name: "side", image: "side:1"}]';
  const spec = `Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: ${sidecar}}}}`;
  const expression = `Object{metadata: Object.metadata{labels: {"added": "yes"}}, spec: ${spec}}`;
  await kubectl.apply(
    {
      apiVersion: api,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'fights' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        matchConditions: [{ name: 'ours', expression: 'object.metadata.name == "fights-mutated"' }],
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      },
    },
    {
      apiVersion: api,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name: 'fights' },
      spec: { policyName: 'fights' },
    },
  );
  // A policy takes a moment to count.
  await eventually(async () => {
    const dry = ['apply', '--server-side', '--dry-run=server', '-o', 'json', '-f', '-'];
    const shown = await kubectl.must(dry, JSON.stringify(aDeployment('fights-mutated')));
    expect(shown).toContain('"side"');
  });
  const objects = [aDeployment('fights-mutated'), aConfigMap(marker)];
  await rollOut({ name: 'mutated', objects });
  const position = await audit.position();
  await isReviewed();
  await eventually(async () => expect(await writesSince(position, 'configmaps')).toBe(1));
  expect(await writesSince(position, 'deployments')).toBe(0);
  const found = await kubectl.get('deployment', 'fights-mutated', 'default');
  expect(found.metadata.labels).toMatchObject({ added: 'yes' });
});

test('a finalizer of others holds its object, not the upgrade that prunes it', async () => {
  await rollOut({ name: 'held', objects: [aConfigMap('fights-held'), aConfigMap(marker)] });
  await patch('configmap', 'fights-held', { metadata: { finalizers: [hold] } });
  await rollOut({ name: 'held', version: 2, objects: [aConfigMap(marker)] });
  const { metadata } = await kubectl.get('configmap', 'fights-held', 'default');
  expect(metadata.deletionTimestamp).toBeDefined();
  expect(metadata.finalizers).toEqual([hold]);
  await patch('configmap', 'fights-held', { metadata: { finalizers: null } });
  await eventually(async () => {
    expect(await kubectl.exists('configmap', 'fights-held', 'default')).toBe(false);
  });
});

test('a template that is changed twice while its deployment is deleted changes nothing', async () => {
  await rollOut({ name: 'leaving', objects: [aConfigMap('fights-leaving')] });
  await patch('bundledeployment', 'leaving', { metadata: { finalizers: [hold] } });
  await kubectl.deleteNamed('bundledeployment', ['leaving'], { wait: false });
  for (const version of [2, 3]) {
    const objects = [aConfigMap(`fights-leaving-${version}`)];
    const wanted = { name: 'leaving', version, objects };
    await rollOutPlain({ kubectl, registry, prefix: 'fights' }, wanted);
  }
  await patch('bundledeployment', 'leaving', { metadata: { finalizers: null } });
  await eventually(async () => {
    expect(await kubectl.exists('bundledeployment', 'leaving')).toBe(false);
    const maps = (await kubectl.list('configmaps')).map(({ metadata }) => metadata.name ?? '');
    expect(maps.filter((name) => name.startsWith('fights-leaving'))).toEqual([]);
  }, patiently);
});

describe('a kind that changes under its objects', () => {
  const fighter = {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Fighter',
    metadata: { name: 'fights', namespace: 'default' },
    spec: { size: 1 },
  };

  async function define(change: object): Promise<void> {
    const { spec, ...rest } = aCRD('Fighter') as KubernetesObject & { spec: object };
    await kubectl.apply({ ...rest, spec: { ...spec, ...change } });
    await eventually(async () => await kubectl.must(['get', '--raw', path]));
  }

  test('keeps them when the version of the bundle is no longer served', async () => {
    const { spec } = aCRD('Fighter') as { spec: { versions: readonly object[] } };
    const [v1] = spec.versions;
    await define({ versions: [v1, { ...v1, name: 'v1beta1', storage: false }] });
    await eventually(async () => {
      await kubectl.must(['get', '--raw', path.replace('v1', 'v1beta1')]);
    });
    const beta = { ...fighter, apiVersion: 'e2e.example.com/v1beta1' };
    await rollOut({ name: 'version', objects: [beta, aConfigMap(marker)] });
    const { uid } = (await kubectl.get('fighters', 'fights', 'default')).metadata;
    await define({ versions: [v1, { ...v1, name: 'v1beta1', storage: false, served: false }] });
    await rollOut({ name: 'version', version: 2, objects: [fighter, aConfigMap(marker)] });
    expect((await kubectl.get('fighters', 'fights', 'default')).metadata.uid).toBe(uid);
    await rollOut({ name: 'version', version: 3, objects: [aConfigMap(marker)] });
    await eventually(async () => {
      expect(await kubectl.exists('fighters', 'fights', 'default')).toBe(false);
    });
  });

  test('has them made anew where it became cluster-scoped', async () => {
    await define({});
    await rollOut({ name: 'scope', objects: [fighter, aConfigMap(marker)] });
    await kubectl.deleteNamed('crd', ['fighters.e2e.example.com']);
    await define({ scope: 'Cluster' });
    await rollOut({ name: 'scope', version: 2, objects: [fighter, aConfigMap(marker)] });
    await eventually(async () => {
      const made = await kubectl.list('fighters');
      expect(made.map(({ metadata }) => [metadata.namespace, metadata.name])).toEqual([
        [undefined, 'fights'],
      ]);
    });
    await rollOut({ name: 'scope', version: 3, objects: [aConfigMap(marker)] });
    await eventually(async () => expect(await kubectl.list('fighters')).toEqual([]));
  });
});
