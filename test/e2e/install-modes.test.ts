import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { label } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';
import { TestOperator } from '../helpers/test-operator.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const namespaces = ['modes-a', 'modes-b', 'modes-own'];
const all = 'AllNamespaces';
const own = 'OwnNamespace';
const single = 'SingleNamespace';
const multi = 'MultiNamespace';
const prefix = 'convert registry+v1 bundle to plain+v0 bundle:';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  await kubectl.apply(
    ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('roles', label.ownerName)).toEqual([]);
    expect(await kubectl.list('clusterroles', label.ownerName)).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', namespaces, { wait: false, ignoreNotFound: true });
  await system.stop();
});

function anOperator(name: string, modes: readonly string[]): TestOperator {
  return new TestOperator({ kubectl, registry, name, modes });
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
    const operator = anOperator(name, [mode]);
    await operator.rollOut({ installNamespace: 'modes-own', ...watch });
    await operator.healthy();
    expect(await operator.permittedIn()).toEqual(permitted);
    expect(await operator.watches()).toEqual({ 'modes-own': targets });
    const deployment = await kubectl.get('deployment', name, 'modes-own');
    expect(deployment.metadata.annotations).toMatchObject({ 'olm.targetNamespaces': targets });
    // The API server heeds a binding a moment after it was made.
    await eventually(async () => {
      for (const namespace of permitted.filter(Boolean)) {
        expect(await operator.maySee(namespace)).toBe(true);
      }
      expect(await operator.maySee('default')).toBe(mode === all);
    });
  });
});

describe('the namespaces of an operator', () => {
  test('change with its spec.config, and its Bundle stays', async () => {
    const operator = anOperator('moving', [all, own, single, multi]);
    const installNamespace = 'modes-own';
    await operator.rollOut({ installNamespace, watchNamespace: 'modes-a' });
    const bundle = await operator.healthy();
    expect(await operator.permittedIn()).toEqual(['modes-a', 'modes-own']);

    await operator.rollOut({ installNamespace, watchNamespaces: ['modes-b', 'modes-a'] });
    await permitted(operator, ['modes-a', 'modes-b', 'modes-own']);
    expect(await operator.healthy()).toBe(bundle);
    await eventually(async () => {
      expect(await operator.watches()).toEqual({ 'modes-own': 'modes-a,modes-b' });
    });

    await operator.rollOut({ installNamespace });
    await permitted(operator, ['']);
    expect(await operator.healthy()).toBe(bundle);
    await eventually(async () => expect(await operator.objects('roles')).toEqual([]));

    await operator.rollOut({ installNamespace, watchNamespace: 'modes-own' });
    await permitted(operator, ['modes-own']);
    expect(await operator.healthy()).toBe(bundle);
  });

  test('must be what its install modes allow, and the message says what to write', async () => {
    const operator = anOperator('picky', [own, single]);
    const config = { installNamespace: 'modes-own' };
    const begin = `${prefix} supported install modes [OwnNamespace SingleNamespace] do not support`;
    const ways =
      'write spec.config.watchNamespace: modes-own, or spec.config.watchNamespace: <another namespace than modes-own>';
    await operator.rollOut(config);
    await operator.refused(`${begin} targeting all namespaces: ${ways}`);
    await operator.rollOut({ ...config, watchNamespaces: ['modes-b', 'modes-a'] });
    await operator.refused(`${begin} target namespaces [modes-a modes-b]: ${ways}`);
    await operator.rollOut({ ...config, watchNamespce: 'modes-a' });
    await operator.refused(
      'parse deployment config: spec.config.watchNamespce is not known: did you mean watchNamespace?',
    );
    await operator.rollOut({ ...config, watchNamespace: 'modes-a' });
    await operator.healthy();
    expect(await operator.permittedIn()).toEqual(['modes-a', 'modes-own']);
  });
});

async function permitted(operator: TestOperator, expected: readonly string[]): Promise<void> {
  await eventually(async () => {
    expect(await operator.permittedIn()).toEqual(expected);
  });
}

describe('without a spec.config', () => {
  const message = `${prefix} AllNamespace install mode must be enabled`;

  test("an operator must watch all namespaces, in v0.16's words; it is installed once it has one", async () => {
    const operator = anOperator('unconfigured', [own]);
    const namespace = 'unconfigured-system';
    await operator.rollOut();
    await operator.condition('HasValidBundle', {
      status: 'False',
      reason: 'UnpackFailed',
      message: expect.stringContaining(message),
    });
    const [bundle] = await kubectl.list('bundles', `${label.ownerName}=unconfigured`);
    expect(bundle && conditionOf(bundle, 'Unpacked')).toMatchObject({
      status: 'False',
      reason: 'UnpackFailed',
      message,
    });

    await operator.rollOut({ watchNamespace: namespace });
    expect(await operator.healthy()).toBe(bundle?.metadata.name);
    expect(await operator.permittedIn()).toEqual([namespace]);

    await operator.rollOut();
    await operator.refused(message);
    expect(await operator.permittedIn()).toEqual([namespace]);
  });

  test('an operator has the namespace that it suggests, which goes with it', async () => {
    const operator = anOperator('settler', [all, own]);
    await operator.rollOut();
    await operator.healthy();
    expect(await operator.permittedIn()).toEqual(['']);
    expect(await operator.watches()).toEqual({ 'settler-system': '' });
    await operator.remove();
    await eventually(async () => {
      expect(await kubectl.exists('namespace', 'settler-system')).toBe(false);
    }, patiently);
  });
});
