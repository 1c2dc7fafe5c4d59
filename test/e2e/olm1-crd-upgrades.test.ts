// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import type { TestOperator } from '../helpers/mirrored-catalog.ts';
import { extensions, installedVersion, Olm1System, operators } from '../helpers/olm1-system.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
let olm1: Olm1System;

beforeAll(async () => {
  olm1 = await Olm1System.start(plane);
});

afterAll(async () => {
  await olm1?.stop();
});

const group = (name: string): string => `${name}.example.com`;

/** The next version of one CRD requires a field; that of the other one only has one more. */
function breaking(name: string): TestOperator {
  const optional = { size: { type: 'integer' }, color: { type: 'string' } };
  return {
    name,
    versions: ['1.0.0', '1.1.0'],
    manifests: (version) => {
      const isNew = version === '1.1.0';
      const more = isNew ? { note: { type: 'string' } } : {};
      return {
        'inks.yaml': aCrd(group(name), 'Ink', { properties: { ...optional, ...more } }),
        'paints.yaml': aCrd(group(name), 'Paint', {
          properties: optional,
          ...(isNew ? { required: ['color'] } : {}),
        }),
      };
    },
  };
}

function aCrd(group: string, kind: string, spec: object): object {
  const singular = kind.toLowerCase();
  const schema = { type: 'object', properties: { spec: { type: 'object', ...spec } } };
  const version = { name: 'v1', served: true, storage: true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
      versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
    },
  };
}

async function customResources(name: string): Promise<void> {
  for (const kind of ['Ink', 'Paint']) {
    const object = {
      apiVersion: `${group(name)}/v1`,
      kind,
      metadata: { name: 'mine', namespace: 'default' },
      spec: { size: 1 },
    };
    // The API server may serve a new kind a moment after it is established.
    await eventually(() => kubectl.apply(object));
  }
}

/** What is installed, but for what the cluster writes. */
async function installed(name: string): Promise<readonly object[]> {
  const kinds = 'namespaces,customresourcedefinitions,serviceaccounts,deployments';
  const objects = await kubectl.list(kinds, `core.rukpak.io/owner-name=${name}`);
  return objects.map(({ kind, metadata, ...object }) => {
    const { name, uid, generation, labels, annotations } = metadata;
    const { spec } = object as { readonly spec?: object };
    return { kind, spec, metadata: { name, uid, generation, labels, annotations } };
  });
}

/** The CRD, what to do, the custom resource and its field. */
function denial(name: string) {
  return expect.stringMatching(
    new RegExp(
      `for CRD "paints\\.${name}\\.example\\.com".*set the "core\\.rukpak\\.io/safe-crd-upgrade-validation" annotation to "false".*default/mine failed validation.*\\.spec\\.color: Required value`,
    ),
  );
}

async function isAvailable(name: string): Promise<void> {
  const [deployment] = await kubectl.list('deployments', `core.rukpak.io/owner-name=${name}`);
  expect(deployment && conditionOf(deployment, 'Available')).toMatchObject({ status: 'True' });
}

test('an upgrade of an Operator that breaks custom resources changes nothing until the custom resource is repaired', async () => {
  const name = 'safe-painter';
  await olm1.catalog('upgrades-safe', { ref: await olm1.pushed('safe', breaking(name)) });
  await olm1.operator(name, '1.0.0');
  await olm1.isHealthyAt(operators, name, '1.0.0');
  await customResources(name);
  const before = await installed(name);
  expect(before).toHaveLength(4);
  await olm1.operator(name, '>=1.0.0');
  await eventually(async () => {
    const live = await kubectl.get(operators, name);
    const failed = { status: 'False', reason: 'InstallationFailed', message: denial(name) };
    expect(conditionOf(live, 'Installed')).toMatchObject(failed);
    expect(conditionOf(live, 'Ready')).toMatchObject({ status: 'False', message: denial(name) });
    expect(live['status']).toMatchObject({
      available: { version: '1.1.0', reason: 'InstallationFailed', message: denial(name) },
    });
    expect(installedVersion(live)).toBe('1.0.0');
  });
  expect(await installed(name)).toEqual(before);
  await isAvailable(name);
  const paint = `paints.${group(name)}`;
  const patch = '{"spec":{"color":"red"}}';
  await kubectl.must(['patch', paint, 'mine', '--type=merge', '-p', patch, '-n', 'default']);
  await kubectl.must(['annotate', 'bundledeployment', name, 'retry=now']);
  await olm1.isHealthyAt(operators, name, '1.1.0');
});

test('an upgrade of a ClusterExtension that breaks custom resources changes nothing until its enforcement is None', async () => {
  const name = 'safe-printer';
  const namespace = 'safe-printers';
  await kubectl.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterCatalog',
      metadata: { name: 'upgrades-safe' },
      spec: {
        source: { type: 'Image', image: { ref: await olm1.pushed('extension', breaking(name)) } },
      },
    },
  );
  const apply = async (version: string, more: object = {}) =>
    await kubectl.apply({
      apiVersion: 'olm.operatorframework.io/v1',
      kind: 'ClusterExtension',
      metadata: { name },
      spec: {
        namespace,
        source: { sourceType: 'Catalog', catalog: { packageName: name, version } },
        ...more,
      },
    });
  await apply('1.0.0');
  await olm1.isHealthyAt(extensions, name, '1.0.0');
  await customResources(name);
  const before = await installed(name);
  await apply('>=1.0.0');
  await eventually(async () => {
    const live = await kubectl.get(extensions, name);
    const failed = { status: 'True', reason: 'Retrying', message: denial(name) };
    expect(conditionOf(live, 'Progressing')).toMatchObject(failed);
    expect(conditionOf(live, 'Installed')).toMatchObject({ status: 'True' });
    expect(installedVersion(live)).toBe('1.0.0');
  });
  expect(await installed(name)).toEqual(before);
  await isAvailable(name);
  const install = { preflight: { crdUpgradeSafety: { enforcement: 'None' } } };
  await apply('>=1.0.0', { install });
  await olm1.isHealthyAt(extensions, name, '1.1.0');
  const { spec } = await kubectl.get('crd', `paints.${group(name)}`);
  expect(JSON.stringify(spec)).toContain('"required":["color"]');
  await kubectl.deleteNamed(extensions, [name]);
  await kubectl.deleteNamed('namespace', [namespace], { wait: false });
});
