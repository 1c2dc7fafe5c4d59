import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { type BundleDeploymentStatus, label } from '../../api/v1alpha1/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { InstalledOperator } from '../helpers/installed-operator.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment } from '../helpers/objects.ts';
import { operatorFiles } from '../helpers/operator-bundle.ts';
import { pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

const kubeconfig = inject('kubeconfig');
const registry = inject('registry');
const kubectl = new Kubectl({ path: inject('kubectl'), kubeconfig });
const namespaces = ['modes-a', 'modes-b', 'modes-own'];
const all = 'AllNamespaces';
const own = 'OwnNamespace';
const single = 'SingleNamespace';
const multi = 'MultiNamespace';
const refused =
  'convert registry+v1 bundle to plain+v0 bundle: AllNamespace install mode must be enabled';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  await kubectl.apply(...namespaces.map(aNamespace));
});

afterEach(async () => {
  await kubectl.must(['delete', 'bundledeployments', '--all', '--timeout=120s']);
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('roles', label.ownerName)).toEqual([]);
    expect(await kubectl.list('clusterroles', label.ownerName)).toEqual([]);
  });
});

afterAll(async () => {
  await kubectl.run(['delete', 'namespace', ...namespaces, '--wait=false']);
  await system.stop();
});

function aNamespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

interface Wanted {
  readonly name: string;
  readonly modes: readonly string[];
  readonly config?: object;
}

/** Pushes an operator and creates or changes its deployment. */
async function bringOut({ name, modes, config }: Wanted): Promise<void> {
  const files = operatorFiles({ name, modes });
  const source = await pushContent({ registry, name: `modes-${name}`, version: 1, files });
  const className = 'core-rukpak-io-registry';
  const deployment = aBundleDeployment({ name, className, source }) as { spec: object };
  const spec = { ...deployment.spec, ...(config === undefined ? {} : { config }) };
  await kubectl.apply({ ...deployment, spec });
}

/** Waits until the present spec is installed and healthy; the name of its Bundle. */
async function healthy(name: string): Promise<string> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const status = deployment['status'] as BundleDeploymentStatus;
    expect(status.observedGeneration).toBe(deployment.metadata.generation);
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
    return status.activeBundle ?? '';
  });
}

function installed(name: string): InstalledOperator {
  return new InstalledOperator(kubectl, name);
}

async function condition(name: string, type: string, expected: object): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, type)).toMatchObject(expected);
  });
}

describe('an operator that supports', () => {
  const cases = [
    { mode: all, watch: {}, permitted: [''], targets: '' },
    { mode: own, watch: { watchNamespace: 'modes-own' }, permitted: ['modes-own'] },
    { mode: single, watch: { watchNamespace: 'modes-a' }, permitted: ['modes-a', 'modes-own'] },
    {
      mode: multi,
      watch: { watchNamespaces: ['modes-b', 'modes-a', 'modes-b'] },
      permitted: ['modes-a', 'modes-b', 'modes-own'],
      targets: 'modes-a,modes-b',
    },
  ];

  test.each(cases)('$mode alone is installed for that', async ({ mode, watch, ...expected }) => {
    const name = mode.toLowerCase();
    const { permitted, targets = watch.watchNamespace } = expected;
    await bringOut({ name, modes: [mode], config: { installNamespace: 'modes-own', ...watch } });
    await healthy(name);
    const operator = installed(name);
    expect(await operator.permittedIn()).toEqual(permitted);
    expect(await operator.watches()).toEqual({ 'modes-own': targets });
    const deployment = await kubectl.get('deployment', name, 'modes-own');
    expect(deployment.metadata.annotations).toMatchObject({ 'olm.targetNamespaces': targets });
    for (const namespace of permitted.filter(Boolean)) {
      expect(await operator.maySee(namespace)).toBe(true);
    }
    expect(await operator.maySee('default')).toBe(mode === all);
  });
});

describe('the namespaces of an operator', () => {
  test('change with its spec.config, and its Bundle stays', async () => {
    const name = 'moving';
    const modes = [all, own, single, multi];
    const installNamespace = 'modes-own';
    await bringOut({ name, modes, config: { installNamespace, watchNamespace: 'modes-a' } });
    const bundle = await healthy(name);
    expect(await installed(name).permittedIn()).toEqual(['modes-a', 'modes-own']);

    const watched = { watchNamespaces: ['modes-b', 'modes-a'] };
    await bringOut({ name, modes, config: { installNamespace, ...watched } });
    await permitted(name, ['modes-a', 'modes-b', 'modes-own']);
    expect(await healthy(name)).toBe(bundle);
    await eventually(async () => {
      expect(await installed(name).watches()).toEqual({ 'modes-own': 'modes-a,modes-b' });
    });

    await bringOut({ name, modes, config: { installNamespace } });
    await permitted(name, ['']);
    expect(await healthy(name)).toBe(bundle);
    expect(await installed(name).objects('roles')).toEqual([]);

    await bringOut({ name, modes, config: { installNamespace, watchNamespace: 'modes-own' } });
    await permitted(name, ['modes-own']);
    expect(await healthy(name)).toBe(bundle);
  });

  test('must be what its install modes allow, and the message says what to write', async () => {
    const name = 'picky';
    const modes = [own, single];
    const config = { installNamespace: 'modes-own' };
    const begin =
      'convert registry+v1 bundle to plain+v0 bundle: supported install modes [OwnNamespace SingleNamespace] do not support';
    const ways =
      'write spec.config.watchNamespace: modes-own, or spec.config.watchNamespace: <another namespace than modes-own>';
    await bringOut({ name, modes, config });
    await invalid(name, `${begin} targeting all namespaces: ${ways}`);
    await bringOut({ name, modes, config: { ...config, watchNamespaces: ['modes-b', 'modes-a'] } });
    await invalid(name, `${begin} target namespaces [modes-a modes-b]: ${ways}`);
    await bringOut({ name, modes, config: { ...config, watchNamespce: 'modes-a' } });
    await invalid(
      name,
      'parse deployment config: spec.config.watchNamespce is not known: did you mean watchNamespace?',
    );
    await bringOut({ name, modes, config: { ...config, watchNamespace: 'modes-a' } });
    await healthy(name);
    expect(await installed(name).permittedIn()).toEqual(['modes-a', 'modes-own']);
  });
});

async function permitted(name: string, expected: readonly string[]): Promise<void> {
  await eventually(async () => {
    expect(await installed(name).permittedIn()).toEqual(expected);
  });
}

async function invalid(name: string, message: string): Promise<void> {
  await condition(name, 'HasValidBundle', { status: 'False', reason: 'BundleLoadFailed', message });
}

describe('without a spec.config', () => {
  test("an operator must watch all namespaces, in v0.16's words; it is installed once it has one", async () => {
    const name = 'unconfigured';
    const modes = [own];
    await bringOut({ name, modes });
    await condition(name, 'HasValidBundle', {
      status: 'False',
      reason: 'UnpackFailed',
      message: expect.stringContaining(refused),
    });
    const [bundle] = await kubectl.list('bundles');
    expect(conditionOf(bundle as KubernetesObject, 'Unpacked')).toMatchObject({
      status: 'False',
      reason: 'UnpackFailed',
      message: refused,
    });

    await bringOut({ name, modes, config: { watchNamespace: `${name}-system` } });
    expect(await healthy(name)).toBe(bundle?.metadata.name);
    expect(await installed(name).permittedIn()).toEqual([`${name}-system`]);

    await bringOut({ name, modes });
    await invalid(name, refused);
    expect(await installed(name).permittedIn()).toEqual([`${name}-system`]);
  });

  test('an operator has the namespace that it suggests, which goes with it', async () => {
    const name = 'plain-operator';
    await bringOut({ name, modes: [all, own] });
    await healthy(name);
    expect(await installed(name).permittedIn()).toEqual(['']);
    expect(await installed(name).watches()).toEqual({ [`${name}-system`]: '' });
    await kubectl.must(['delete', 'bundledeployment', name, '--timeout=120s']);
    await eventually(async () => {
      expect(await kubectl.exists('namespace', `${name}-system`)).toBe(false);
    });
  });
});

describe('the namespace to install to', () => {
  test('is awaited where it is not there', async () => {
    const name = 'early';
    const config = { installNamespace: 'modes-late', watchNamespace: 'modes-late' };
    await bringOut({ name, modes: [own], config });
    await condition(name, 'Installed', {
      status: 'False',
      message: expect.stringContaining('namespaces "modes-late" not found'),
    });
    await kubectl.apply(aNamespace('modes-late'));
    await healthy(name);
    await kubectl.must(['delete', 'bundledeployment', name, '--timeout=120s']);
    expect(await kubectl.exists('namespace', 'modes-late')).toBe(true);
    await kubectl.must(['delete', 'namespace', 'modes-late', '--wait=false']);
  });

  test('may have several operators, each of which goes alone', async () => {
    const config = { installNamespace: 'modes-own', watchNamespace: 'modes-a' };
    await bringOut({ name: 'first', modes: [single], config });
    await bringOut({ name: 'second', modes: [single], config });
    await healthy('first');
    await healthy('second');
    await kubectl.must(['delete', 'bundledeployment', 'first', '--timeout=120s']);
    await permitted('first', []);
    expect(await installed('second').permittedIn()).toEqual(['modes-a', 'modes-own']);
    expect(await kubectl.exists('deployment', 'second', 'modes-own')).toBe(true);
  });
});
