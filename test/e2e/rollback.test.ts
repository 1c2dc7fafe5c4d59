import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentStatus, BundleSource } from '../../api/v1alpha1/index.ts';
import { AuditLog, isWrite } from '../helpers/audit-log.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { RukpakProcess } from '../helpers/rukpak-run.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';

let system: System;
let kubectl: Kubectl;
const kubeconfig = plane.kubeconfig;
const registry = plane.registry;

beforeAll(async () => {
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
  system = await System.start({ kubeconfig, registry, run: RukpakProcess });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('deployments,configmaps', ownerLabel)).toEqual([]);
  }, patiently);
  const contents = [1, 2, 3].map((version) => `cart-content-v${version}`);
  // They are in use until the webhook knows that the Bundles are gone.
  await eventually(async () => {
    const place = ['--namespace=rukpak-system', '--ignore-not-found'];
    await kubectl.must(['delete', 'configmap', ...place, ...contents]);
  });
});

afterAll(async () => {
  await system.stop();
});

const ownerLabel = 'core.rukpak.io/owner-kind=BundleDeployment';

/** What is to become healthy has the time that a busy machine takes for it. */
const unhurried = { rollback: { deadline: '10m' } };

interface Version {
  readonly version: number;
  readonly objects: readonly object[];
  readonly spec?: object;
}

/** Creates or upgrades a BundleDeployment; the source of its content. */
async function rollOut(
  name: string,
  { version, objects, spec = { rollback: { deadline: '10s' } } }: Version,
): Promise<BundleSource> {
  const files = plainFiles(objects);
  const source = await pushContent({ registry, name: `rollback-${name}`, version, files });
  const deployment = aBundleDeployment({ name, source }) as KubernetesObject & { spec: object };
  await kubectl.apply({ ...deployment, spec: { ...deployment.spec, ...spec } });
  return source;
}

async function statusOf(name: string): Promise<BundleDeploymentStatus> {
  const live = await kubectl.get('bundledeployment', name);
  return live['status'] ?? {};
}

/** The status once it is as wanted. */
async function statusWith(
  name: string,
  wanted: Partial<BundleDeploymentStatus>,
): Promise<BundleDeploymentStatus> {
  return await eventually(async () => {
    const status = await statusOf(name);
    expect(status).toMatchObject(wanted);
    return status;
  });
}

/** The Bundle that is installed and healthy. */
async function healthy(name: string, version: number): Promise<string> {
  return await eventually(async () => {
    const live = await kubectl.get('bundledeployment', name);
    const { activeBundle = '', history } = await statusOf(name);
    expect(conditionOf(live, 'Healthy')?.status).toBe('True');
    expect(history?.[0]).toMatchObject({ bundle: activeBundle, healthyAt: expect.any(String) });
    expect(history?.[0]?.template.spec.source.image?.ref).toMatch(new RegExp(`:v${version}$`));
    return activeBundle;
  });
}

async function ctl(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(args, { env: { KUBECONFIG: kubeconfig } });
}

/** No node is as its pods want it. */
function aHomelessDeployment(name: string): object {
  const deployment = aDeployment(name) as { spec: { template: { spec: object } } };
  const { spec } = deployment;
  const pod = { ...spec.template.spec, nodeSelector: { 'example.com/none': 'none' } };
  return { ...deployment, spec: { ...spec, template: { ...spec.template, spec: pod } } };
}

describe('a Bundle that is not healthy in time', () => {
  test('is rolled back, its own objects are pruned, and it is not retried', async () => {
    const good = [aConfigMap('late'), aDeployment('late')];
    await rollOut('late', { version: 1, objects: good, spec: unhurried });
    const first = await healthy('late', 1);
    const objects = [aHomelessDeployment('late'), aConfigMap('late-new')];
    await rollOut('late', { version: 2, objects });
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'late-new', 'default')).toBe(true);
    });
    const { rollback, history } = await statusWith('late', {
      activeBundle: first,
      rollback: { to: first } as never,
    });
    expect(history).toMatchObject([
      { revision: 2, bundle: rollback?.from, rolledBackAt: rollback?.at },
      { revision: 1, bundle: first },
    ]);
    expect(rollback?.reason).toMatch(/^not healthy within 10s \(.*default\/late/);
    // Once what it went back to is healthy.
    await eventually(async () => {
      expect(await kubectl.exists('configmap', 'late-new', 'default')).toBe(false);
    });
    expect(await kubectl.exists('configmap', 'late', 'default')).toBe(true);
    const live = await kubectl.get('bundledeployment', 'late');
    expect(conditionOf(live, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'RolledBack',
    });
    await eventually(async () => {
      const field = ['--field-selector=reason=RolledBack,type=Warning', '--output=name'];
      expect(await kubectl.must(['get', 'events', '--namespace=default', ...field])).not.toBe('');
    });
    const before = await kubectl.get('deployment', 'late', 'default');
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    const after = await kubectl.get('deployment', 'late', 'default');
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect((await statusOf('late')).rollback).toEqual(rollback);
  });

  test('is rolled back in time by a process that was started meanwhile', {
    tags: 'long',
  }, async () => {
    const spec = { rollback: { deadline: '25s' } };
    await rollOut('restart', { version: 1, objects: [aDeployment('restart')], spec: unhurried });
    const first = await healthy('restart', 1);
    await rollOut('restart', { version: 2, objects: [aHomelessDeployment('restart')], spec });
    const { progress } = await eventually(async () => {
      const status = await statusOf('restart');
      expect(status.activeBundle).not.toBe(first);
      return status;
    });
    await system.kill();
    await system.restart();
    const { rollback } = await statusWith('restart', {
      activeBundle: first,
      rollback: { to: first } as never,
    });
    const seconds = (Date.parse(rollback?.at ?? '') - Date.parse(progress?.startedAt ?? '')) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(25);
    expect(seconds).toBeLessThan(180);
    await system.kill();
    await system.restart();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await statusOf('restart')).toMatchObject({ activeBundle: first, rollback });
  });

  test('is rolled back too when it cannot be applied at all', async () => {
    await rollOut('refused', { version: 1, objects: [aConfigMap('refused')], spec: unhurried });
    const first = await healthy('refused', 1);
    const invalid = { ...aConfigMap('refused-2'), data: { 'not a key': 'x' } };
    await rollOut('refused', { version: 2, objects: [aConfigMap('refused'), invalid] });
    const { rollback } = await statusWith('refused', { rollback: { to: first } as never });
    expect(rollback?.reason).toContain('refused-2');
    await eventually(async () => {
      const live = await kubectl.get('bundledeployment', 'refused');
      expect(conditionOf(live, 'Installed')).toMatchObject({
        status: 'True',
        message: `Instantiated bundle ${first} successfully`,
      });
    });
    const objects = [aConfigMap('refused'), aConfigMap('refused-3')];
    await rollOut('refused', { version: 3, objects, spec: unhurried });
    await healthy('refused', 3);
    expect(await statusOf('refused')).not.toHaveProperty('rollback');
  });
});

describe('rukpakctl rollback', () => {
  test('goes back without the source, and keeps no more Bundles than asked for', async () => {
    const spec = { revisionHistoryLimit: 1 };
    await rollOut('back', { version: 1, objects: [aConfigMap('back', { v: '1' })], spec });
    const first = await healthy('back', 1);
    await rollOut('back', { version: 2, objects: [aConfigMap('back', { v: '2' })], spec });
    const second = await healthy('back', 2);
    // The tag is another content now: what is fetched again would show.
    const files = plainFiles([aConfigMap('back', { v: 'moved' })]);
    await pushContent({ registry, name: 'rollback-back', version: 1, files });
    const { code, stdout, stderr } = await ctl('rollback', 'back', '--wait');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`core rolls back from Bundle "${second}" to "${first}" (revision 1)`);
    expect(await kubectl.get('configmap', 'back', 'default')).toMatchObject({ data: { v: '1' } });
    const { history } = await statusOf('back');
    expect(history?.map(({ revision, bundle }) => [revision, bundle])).toEqual([
      [3, first],
      [2, second],
    ]);
    const newer = { version: 3, files: plainFiles([aConfigMap('back', { v: '3' })]) };
    const source = await pushContent({ registry, name: 'rollback-back', ...newer });
    const patch = JSON.stringify({ spec: { template: { spec: { source } } } });
    await kubectl.must(['patch', 'bundledeployment', 'back', '--type=merge', '-p', patch]);
    const third = await healthy('back', 3);
    await eventually(async () => {
      const names = (await kubectl.list('bundles')).map(({ metadata }) => metadata.name);
      expect(new Set(names)).toEqual(new Set([first, third]));
    });
  });

  test('refuses a Bundle that is not a revision', async () => {
    await rollOut('none', { version: 1, objects: [aConfigMap('none')] });
    const only = await healthy('none', 1);
    const { code, stderr } = await ctl('rollback', 'none', '--to', 'none-x');
    expect(code).toBe(1);
    expect(stderr).toContain(
      `BundleDeployment "none" has no revision of Bundle "none-x": its revisions are ${only} (of the template); --to takes one of them`,
    );
  });
});

test('a history tells who applied what, by user', async () => {
  const spec = { revisionHistoryLimit: 2 };
  await rollOut('who', { version: 1, objects: [aConfigMap('who')], spec });
  await healthy('who', 1);
  const source = { image: { ref: `${registry}/e2e/rollback-who:v2` } };
  const files = plainFiles([aConfigMap('who', { v: '2' })]);
  await pushContent({ registry, name: 'rollback-who', version: 2, files });
  const patch = JSON.stringify({ spec: { template: { spec: { source } } } });
  const as = ['--as=alice', '--as-group=system:masters'];
  await kubectl.must(['patch', 'bundledeployment', 'who', '--type=merge', '-p', patch, ...as]);
  await healthy('who', 2);
  const { history } = await statusOf('who');
  expect(history?.map(({ appliedBy }) => appliedBy)).toEqual(['alice', expect.any(String)]);
  const { stdout } = await ctl('history', 'who');
  const [headings, latest, earlier] = stdout.split('\n');
  expect(headings?.split(/ {2,}/)).toEqual([
    'REVISION',
    'BUNDLE',
    'SOURCE',
    'APPLIED',
    'BY',
    'HEALTHY',
    'NOW',
  ]);
  expect(latest).toMatch(/^2 .*rollback-who:v2 .* alice .*active$/);
  expect(earlier).toMatch(/^1 .*rollback-who:v1 /);
});

test('a deployment that asks for nothing has the status of RukPak, and what core remembers', async () => {
  await rollOut('plain', { version: 1, objects: [aConfigMap('plain')], spec: {} });
  const status = await statusWith('plain', { activeBundle: expect.any(String) as never });
  const remembered = ['applied', 'groupKinds', 'installNamespace'];
  expect(new Set(Object.keys(status))).toEqual(
    new Set(['activeBundle', 'conditions', 'observedGeneration', ...remembered]),
  );
});

test('a paused deployment changes nothing but its status, and a deletion of it goes on', async () => {
  const objects = [aConfigMap('paused'), aConfigMap('paused-too')];
  await rollOut('paused', { version: 1, objects, spec: {} });
  await statusWith('paused', { activeBundle: expect.any(String) as never });
  await ctl('pause', 'paused');
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', 'paused');
    expect(conditionOf(live, 'Progressing')?.reason).toBe('Paused');
  });
  const audit = new AuditLog(plane.clusterDir);
  const position = await audit.position();
  await kubectl.deleteNamed('configmap', ['paused'], { namespace: 'default' });
  await rollOut('paused', { version: 2, objects: objects.slice(0, 1), spec: { paused: true } });
  await eventually(async () => {
    const live = await kubectl.get('bundledeployment', 'paused');
    expect(conditionOf(live, 'Healthy')?.message).toContain('default/paused');
    expect(await statusOf('paused')).toMatchObject({
      observedGeneration: live.metadata.generation,
    });
  });
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const written = (await audit.since(position)).filter(isWrite).map(({ resource }) => resource);
  const changes = written.filter((resource) => !/^(events|leases)/.test(resource));
  expect(new Set(changes)).toEqual(new Set(['bundledeployments/status']));
  expect(await kubectl.exists('configmap', 'paused', 'default')).toBe(false);
  expect(await kubectl.list('bundles')).toHaveLength(1);
  await kubectl.deleteNamed('bundledeployment', ['paused']);
  await eventually(async () => {
    expect(await kubectl.exists('configmap', 'paused-too', 'default')).toBe(false);
  }, patiently);
});

describe('the howto', { tags: 'long' }, () => {
  async function follow(page: string, ...headings: readonly string[]): Promise<string[]> {
    const howto = { page, kubectl, kubeconfig };
    const printed: string[] = [];
    for (const heading of headings) printed.push(await followHowto(howto, heading));
    return printed;
  }

  test('on rollback does what it says', async () => {
    const [late, permanent, byHand] = await follow(
      'rollback.md',
      'Automatic rollback',
      'Make it permanent',
      'Manual rollback',
    );
    expect(late).toContain('"reason":"not healthy within 20s (');
    expect(late).toMatch(/^2 .*cart-content-v2 .*rolled back/m);
    expect(permanent).toMatch(/ installed\n.*cart-content-v1$/);
    expect(byHand).toMatch(/^5 .*cart-content-v1 .*active$/m);
  });

  test('on pause does what it says', async () => {
    const [printed] = await follow('pause.md', 'A session');
    expect(printed).toContain('To continue, run "rukpakctl resume cart"');
    expect(printed).toContain('it is paused: rukpakctl resume cart');
  });
});
