import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  type BundleDeployment,
  type BundleDeploymentStatus,
  bundleResource,
} from '../../api/v1alpha1/index.ts';
import { templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { desiredBundle } from '../../core/bundle-deployment/desired-bundle.ts';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const rbac = 'rbac.authorization.k8s.io';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments,bundles');
  await kubectl.deleteAll('configmaps', { namespace: 'default' });
});

afterAll(async () => {
  await kubectl.must(['delete', 'clusterrole,clusterrolebinding', '-l', 'e2e=threats']);
  await system.stop();
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** A user who has this right and no other, as kubectl's arguments. */
async function userWith(name: string, rule: Rule): Promise<readonly string[]> {
  const metadata = { name: `threats-${name}`, labels: { e2e: 'threats' } };
  await kubectl.apply(
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata, rules: [rule] },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'User', name }],
    },
  );
  return [`--as=${name}`];
}

/** A right takes a moment to count. */
async function does(user: readonly string[], args: readonly string[], input?: string) {
  await eventually(async () => {
    await kubectl.must([...args, ...user], input);
  });
}

async function statusOf(name: string): Promise<BundleDeploymentStatus> {
  const { status = {} } = (await kubectl.get('bundledeployment', name)) as BundleDeployment;
  return status;
}

async function install(
  version: number,
  objects: readonly object[],
  spec: Partial<BundleDeployment['spec']> = {},
): Promise<string> {
  await rollOutPlain(
    { kubectl, registry, prefix: 'threats' },
    { name: 'victim', version, objects, spec },
  );
  return await isInstalled();
}

/** The Bundle that is installed. */
async function isInstalled(): Promise<string> {
  return await eventually(async () => {
    const deployment = (await kubectl.get('bundledeployment', 'victim')) as BundleDeployment;
    const { activeBundle, observedGeneration } = await statusOf('victim');
    expect(observedGeneration).toBe(deployment.metadata.generation);
    expect(conditionOf(deployment, 'Installed')?.status).toBe('True');
    const wanted = desiredBundle(deployment, templateHash(deployment.spec.template));
    expect(activeBundle).toBe(wanted.metadata.name);
    return activeBundle ?? '';
  });
}

test('who may create Bundles alone gets nothing installed, and is named where one is in the way', async () => {
  const mallory = await userWith('mallory', {
    apiGroups: ['core.rukpak.io'],
    resources: ['bundles'],
    verbs: ['create'],
  });
  await install(1, [aConfigMap('threat')]);
  const evil = await pushContent({
    registry,
    name: 'threats-evil',
    version: 1,
    files: plainFiles([aConfigMap('threat-evil')]),
  });
  const good = await pushContent({
    registry,
    name: 'threats-victim',
    version: 2,
    files: plainFiles([aConfigMap('threat', { a: '2' })]),
  });
  const live = (await kubectl.get('bundledeployment', 'victim')) as BundleDeployment;
  const { spec } = aBundleDeployment({ name: 'victim', source: good }) as BundleDeployment;
  const next = { ...live, spec } as BundleDeployment;
  const { metadata, ...rest } = desiredBundle(next, templateHash(spec.template));
  const { ownerReferences: _, ...owned } = metadata;
  const forged = { ...rest, metadata: owned, spec: { ...rest.spec, source: evil } };
  await does(mallory, ['create', '-f', '-'], stringifyJson(forged));
  await kubectl.apply(aBundleDeployment({ name: 'victim', source: good }));
  await eventually(async () => {
    const condition = conditionOf(
      await kubectl.get('bundledeployment', 'victim'),
      'HasValidBundle',
    );
    expect(condition?.message).toMatch(
      /exists and was not made for this template \(made \S+, by "kubectl-create", no owner\): delete it/,
    );
  });
  expect(await kubectl.exists('configmap', 'threat-evil', 'default')).toBe(false);
  expect((await kubectl.get('configmap', 'threat', 'default'))['data']).not.toEqual({ a: '2' });
  // kubectl would wait for ever where it sees the Bundle before and after core has made it anew.
  await kubectl.deleteNamed('bundle', [metadata.name ?? ''], { wait: false });
  await isInstalled();
  expect((await kubectl.get('configmap', 'threat', 'default'))['data']).toEqual({ a: '2' });
  expect(await kubectl.exists('configmap', 'threat-evil', 'default')).toBe(false);
});

test('who may write the status of Bundles alone sends core’s token to nobody', async () => {
  const mallory = await userWith('scribe', {
    apiGroups: ['core.rukpak.io'],
    resources: ['bundles/status', 'bundles'],
    verbs: ['get', 'patch'],
  });
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  const name = await install(1, [aConfigMap('threat', { a: '1' })]);
  const contentURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/evil.tgz`;
  const patch = stringifyJson({ status: { contentURL } });
  const target = ['patch', bundleResource.plural, name, '--subresource=status', '--type=merge'];
  await does(mallory, [...target, '--patch', patch]);
  // Core installs again from what it has.
  await kubectl.deleteNamed('configmap', ['threat'], { namespace: 'default' });
  await eventually(async () => {
    expect((await kubectl.get('configmap', 'threat', 'default'))['data']).toEqual({ a: '1' });
  });
  expect(asked).toEqual([]);
});

test('who may write the status of deployments alone has nothing installed or deleted', async () => {
  const mallory = await userWith('clerk', {
    apiGroups: ['core.rukpak.io'],
    resources: ['bundledeployments/status', 'bundledeployments'],
    verbs: ['get', 'patch'],
  });
  const name = await install(1, [aConfigMap('threat')]);
  const { metadata } = await kubectl.get('configmap', 'threat', 'default');
  const patch = stringifyJson({ status: { activeBundle: 'another', history: null } });
  const target = ['patch', 'bundledeployments', 'victim', '--subresource=status', '--type=merge'];
  await does(mallory, [...target, '--patch', patch]);
  await eventually(async () => expect((await statusOf('victim')).activeBundle).toBe(name));
  expect((await kubectl.get('configmap', 'threat', 'default')).metadata.uid).toBe(metadata.uid);
  expect(await kubectl.exists('bundle', name)).toBe(true);
});

describe('who may write the status of deployments alone', () => {
  const target = ['patch', 'bundledeployments', 'victim', '--subresource=status', '--type=merge'];
  let mallory: readonly string[];

  beforeAll(async () => {
    mallory = await userWith('registrar', {
      apiGroups: ['core.rukpak.io'],
      resources: ['bundledeployments/status', 'bundledeployments'],
      verbs: ['get', 'patch'],
    });
  });

  async function forge(status: object): Promise<void> {
    await does(mallory, [...target, '--patch', stringifyJson({ status })]);
  }

  test('rolls nothing back, neither to a template of theirs nor to an earlier one', async () => {
    const spec = { rollback: { deadline: '10m' } };
    const first = await install(1, [aConfigMap('threat', { a: '1' })], spec);
    const next = await install(2, [aConfigMap('threat', { a: '2' })], spec);
    const evil = await pushContent({
      registry,
      name: 'threats-evil',
      version: 2,
      files: plainFiles([aConfigMap('threat-evil')]),
    });
    const { history } = await eventually(async () => {
      const status = await statusOf('victim');
      expect(status.history?.map(({ healthyAt }) => healthyAt)).not.toContain(undefined);
      expect(status.history).toHaveLength(2);
      return status;
    });
    const live = (await kubectl.get('bundledeployment', 'victim')) as BundleDeployment;
    const { template } = (aBundleDeployment({ name: 'victim', source: evil }) as BundleDeployment)
      .spec;
    const forged = desiredBundle(live, templateHash(template)).metadata.name ?? '';
    for (const to of [forged, first]) {
      const time = '2025-01-01T00:00:00Z';
      const revision = { revision: 1, bundle: to, template, appliedAt: time, healthyAt: time };
      const rollback = { from: next, to, reason: 'forged', at: time };
      await forge({ rollback, history: to === first ? history : [revision] });
      await eventually(async () => {
        const status = await statusOf('victim');
        expect(status.rollback).toBeUndefined();
        expect(status.history).toEqual(history);
      });
      await isInstalled();
      expect((await kubectl.get('configmap', 'threat', 'default'))['data']).toEqual({ a: '2' });
    }
    expect(await kubectl.exists('bundle', forged)).toBe(false);
    expect(await kubectl.exists('configmap', 'threat-evil', 'default')).toBe(false);
    await eventually(async () => {
      const events = await kubectl.must(['get', 'events', '-A', '--output=json']);
      expect(events).toContain('StatusRestored');
    });
    const { metadata } = (await kubectl.get('bundledeployment', 'victim')) as BundleDeployment;
    // Of one status: of an earlier one core takes nothing any more.
    expect(metadata.annotations?.['core.rukpak.io/noted-status']).toMatch(/^[^,]+$/);
  });

  test('chooses no namespace for objects without one', async () => {
    const unplaced = (name: string, data = {}) => ({
      ...aConfigMap(name, data),
      metadata: { name },
    });
    await install(1, [unplaced('threat')], { installNamespace: 'default' });
    const { metadata } = await kubectl.get('configmap', 'threat', 'default');
    await forge({ installNamespace: 'kube-public' });
    await install(2, [unplaced('threat', { a: '2' }), unplaced('threat-new')], {
      installNamespace: 'default',
    });
    await eventually(async () => {
      expect((await statusOf('victim')).installNamespace).toBe('default');
    });
    expect(await kubectl.exists('configmap', 'threat-new', 'default')).toBe(true);
    expect(await kubectl.exists('configmap', 'threat-new', 'kube-public')).toBe(false);
    expect((await kubectl.get('configmap', 'threat', 'default')).metadata.uid).toBe(metadata.uid);
  });
});

test('who may edit labels alone neither takes an object from its deployment nor adds one', async () => {
  const mallory = await userWith('labeller', {
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get', 'create', 'patch'],
  });
  await install(1, [aConfigMap('threat'), aConfigMap('threat-old')]);
  const { metadata } = await kubectl.get('configmap', 'threat', 'default');
  const marks = { labels: metadata.labels, annotations: metadata.annotations };
  const own = {
    ...aConfigMap('threat-own'),
    metadata: { name: 'threat-own', namespace: 'default' },
  };
  await does(mallory, ['create', '-f', '-'], stringifyJson(own));
  const target = (name: string) => ['patch', 'configmap', name, '-n', 'default', '--type=merge'];
  await does(mallory, [...target('threat-own'), '--patch', stringifyJson({ metadata: marks })]);
  const none = { labels: withNulls(metadata.labels) };
  await does(mallory, [...target('threat-old'), '--patch', stringifyJson({ metadata: none })]);
  await eventually(async () => {
    const { metadata: repaired } = await kubectl.get('configmap', 'threat-old', 'default');
    expect(Object.keys(repaired.labels ?? {})).toEqual(Object.keys(metadata.labels ?? {}));
  });
  await install(2, [aConfigMap('threat')]);
  await eventually(async () => {
    expect(await kubectl.exists('configmap', 'threat-old', 'default')).toBe(false);
  });
  await kubectl.deleteNamed('bundledeployment', ['victim']);
  expect(await kubectl.exists('configmap', 'threat', 'default')).toBe(false);
  expect(await kubectl.exists('configmap', 'threat-own', 'default')).toBe(true);
});

function withNulls(map: KubernetesObject['metadata']['labels'] = {}): object {
  return Object.fromEntries(Object.keys(map).map((key) => [key, null]));
}
