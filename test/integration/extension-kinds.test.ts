import { afterAll, beforeAll, expect, test } from 'vitest';
import { versionRangePattern } from '../../api/operators/v1alpha1/index.ts';
import { judge } from '../helpers/admission.ts';
import { installOperatorCrds, removeOperatorCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });

beforeAll(async () => await installOperatorCrds(plane.kubeconfig));
afterAll(async () => await removeOperatorCrds(plane.kubeconfig));

function anOperator(spec?: object): object {
  return {
    apiVersion: 'operators.operatorframework.io/v1alpha1',
    kind: 'Operator',
    metadata: { name: 'extension-kinds' },
    ...(spec === undefined ? {} : { spec }),
  };
}

function ofPackage(spec: object): object {
  return anOperator({ packageName: 'shop', ...spec });
}

function anExtension(spec?: object): object {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterExtension',
    metadata: { name: 'extension-kinds' },
    ...(spec === undefined ? {} : { spec }),
  };
}

function ofCatalog(catalog: object, more: object = {}): object {
  const source = { sourceType: 'Catalog', catalog: { packageName: 'shop', ...catalog } };
  return anExtension({ namespace: 'shop', source, ...more });
}

async function expectRefusal(object: object, ...texts: string[]): Promise<void> {
  const { refusal } = await judge(plane.kubeconfig, object);
  for (const text of texts) expect(refusal).toContain(text);
}

async function expectAcceptance(object: object): Promise<void> {
  expect((await judge(plane.kubeconfig, object)).refusal).toBeUndefined();
}

const refusedRanges = `
  1.*.*; 1.2.3||*; 1.2.3 || 1.2.*; 1.2.3 - 2.3.4; ==1.2.3; 01.2.3; 1.2.3.4; !1.2.3;`;
const acceptedRanges = `
  *; 1.*; 1.2.*; 1.2.3 || 1.*; |; 1.2.3-01; >=1.11, <1.13; >1.11.1,<1.13; ~1.12.x; ^1.11; ^0.0;
  1.11.0 || 2.x; 1.11.0 1.12.0; v1.2.3; =>1.2; =<1.2`;

function rangesIn(text: string): readonly string[] {
  return text.split(';').map((range) => range.trim());
}

test.each(rangesIn(refusedRanges))('version %j is refused', async (version) => {
  await expectRefusal(
    ofPackage({ version }),
    `spec.version: Invalid value: "${version}": spec.version in body should match '${versionRangePattern}'`,
  );
  await expectRefusal(
    ofCatalog({ version }),
    `spec.source.catalog.version: Invalid value: "${version}": invalid version expression`,
  );
});

test.each(rangesIn(acceptedRanges))('version %j is accepted', async (version) => {
  await expectAcceptance(ofPackage({ version }));
  await expectAcceptance(ofCatalog({ version }));
});

test.each<[what: string, object: object, text: string]>([
  ['no package', anOperator({}), 'spec.packageName: Required value'],
  [
    'a dot in the package',
    ofPackage({ packageName: 'a.b' }),
    "spec.packageName in body should match '^[a-z0-9]+(-[a-z0-9]+)*$'",
  ],
  [
    'a package of 49 characters',
    ofPackage({ packageName: 'p'.repeat(49) }),
    'spec.packageName: Too long: may not be more than 48 bytes',
  ],
  [
    'a version of 65 characters',
    ofPackage({ version: `1.2.${'3'.repeat(61)}` }),
    'spec.version: Too long: may not be more than 64 bytes',
  ],
  [
    'a version that is a number',
    ofPackage({ version: 1.12 }),
    'spec.version in body must be of type string: "number"',
  ],
  [
    'an empty channel',
    ofPackage({ channel: '' }),
    String.raw`spec.channel in body should match '^[a-z0-9]+([\.-][a-z0-9]+)*$'`,
  ],
  [
    'an underscore in the channel',
    ofPackage({ channel: 'a_b' }),
    'spec.channel in body should match',
  ],
  [
    'a channel of 49 characters',
    ofPackage({ channel: 'c'.repeat(49) }),
    'spec.channel: Too long: may not be more than 48 bytes',
  ],
  [
    'another policy',
    ofPackage({ upgradeConstraintPolicy: 'x' }),
    'spec.upgradeConstraintPolicy: Unsupported value: "x": supported values: "Enforce", "Ignore"',
  ],
])('an Operator with %s is refused', async (_what, object, text) => {
  await expectRefusal(object, text);
});

test.each<[what: string, object: object]>([
  ['no spec', anOperator()],
  ['a package alone', ofPackage({})],
  ['a channel with dots', ofPackage({ channel: 'stable-1.2' })],
])('an Operator with %s is accepted', async (_what, object) => {
  await expectAcceptance(object);
});

test('the API server sets the policies', async () => {
  const operator = await judge(plane.kubeconfig, ofPackage({}));
  expect(operator.admitted).toMatchObject({
    spec: { upgradeConstraintPolicy: 'Enforce' },
  });
  const extension = await judge(plane.kubeconfig, ofCatalog({}));
  expect(extension.admitted).toMatchObject({
    spec: { source: { catalog: { upgradeConstraintPolicy: 'CatalogProvided' } } },
  });
});

const subdomain =
  'must be a valid DNS1123 subdomain. It must contain only lowercase alphanumeric characters, hyphens (-) or periods (.), start and end with an alphanumeric character, and be no longer than 253 characters';

test.each<[what: string, object: object, text: string]>([
  ['an empty spec', anExtension({}), 'spec.namespace: Required value'],
  [
    'no catalog',
    anExtension({ namespace: 'shop', source: { sourceType: 'Catalog' } }),
    'spec.source: Invalid value: catalog is required when sourceType is Catalog, and forbidden otherwise',
  ],
  [
    'another type of source',
    ofCatalog({}, { source: { sourceType: 'Image' } }),
    'spec.source.sourceType: Unsupported value: "Image": supported values: "Catalog"',
  ],
  [
    'an invalid package',
    ofCatalog({ packageName: '-shop' }),
    `spec.source.catalog.packageName: Invalid value: "-shop": packageName ${subdomain}`,
  ],
  [
    'a package of 254 characters',
    ofCatalog({ packageName: 'p'.repeat(254) }),
    'spec.source.catalog.packageName: Too long: may not be more than 253 bytes',
  ],
  [
    'an invalid channel',
    ofCatalog({ channels: ['stable', 'a_b'] }),
    'spec.source.catalog.channels[1]: Invalid value: "a_b": channels entries must be valid DNS1123 subdomains',
  ],
  [
    '257 channels',
    ofCatalog({ channels: Array.from({ length: 257 }, (_, index) => `c${index}`) }),
    'spec.source.catalog.channels: Too many: 257: must have at most 256 items',
  ],
  [
    'another policy',
    ofCatalog({ upgradeConstraintPolicy: 'Ignore' }),
    'spec.source.catalog.upgradeConstraintPolicy: Unsupported value: "Ignore": supported values: "CatalogProvided", "SelfCertified"',
  ],
  [
    'an invalid namespace',
    ofCatalog({}, { namespace: 'a.b' }),
    'spec.namespace: Invalid value: "a.b": namespace must be a valid DNS1123 label',
  ],
  [
    'an empty serviceAccount',
    ofCatalog({}, { serviceAccount: {} }),
    'spec.serviceAccount in body should have at least 1 properties',
  ],
  [
    'an invalid serviceAccount',
    ofCatalog({}, { serviceAccount: { name: 'a_b' } }),
    `spec.serviceAccount.name: Invalid value: "a_b": name ${subdomain}`,
  ],
  [
    'an empty install',
    ofCatalog({}, { install: {} }),
    'spec.install: Invalid value: at least one of [preflight] are required when install is specified',
  ],
  [
    'an empty preflight',
    ofCatalog({}, { install: { preflight: {} } }),
    'spec.install.preflight.crdUpgradeSafety: Required value',
  ],
  [
    'another enforcement',
    ofCatalog({}, { install: { preflight: { crdUpgradeSafety: { enforcement: 'Warn' } } } }),
    'enforcement: Unsupported value: "Warn": supported values: "None", "Strict"',
  ],
  [
    'a config without values',
    ofCatalog({}, { config: { configType: 'Inline' } }),
    'spec.config: Invalid value: inline is required when configType is Inline, and forbidden otherwise',
  ],
  [
    'an empty config',
    ofCatalog({}, { config: { configType: 'Inline', inline: {} } }),
    'spec.config.inline in body should have at least 1 properties',
  ],
  [
    'a deadline of 9 minutes',
    ofCatalog({}, { progressDeadlineMinutes: 9 }),
    'spec.progressDeadlineMinutes in body should be greater than or equal to 10',
  ],
])('a ClusterExtension with %s is refused', async (_what, object, text) => {
  await expectRefusal(object, text);
});

test.each<[what: string, object: object]>([
  ['no spec', anExtension()],
  ['dots in the package', ofCatalog({ packageName: 'shop.example.com' })],
  [
    'every field',
    ofCatalog(
      {
        version: '>=1.0.0 <2.0.0',
        channels: ['stable', '1.1.x'],
        selector: {
          matchLabels: { 'olm.operatorframework.io/metadata.name': 'c' },
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold'] }],
        },
        upgradeConstraintPolicy: 'SelfCertified',
      },
      {
        serviceAccount: { name: 'installer' },
        install: { preflight: { crdUpgradeSafety: { enforcement: 'None' } } },
        config: { configType: 'Inline', inline: { watchNamespace: 'shop', any: [{ thing: 1 }] } },
        progressDeadlineMinutes: 720,
      },
    ),
  ],
])('a ClusterExtension with %s is accepted', async (_what, object) => {
  await expectAcceptance(object);
});

test.each<[patch: object, text: string]>([
  [{ namespace: 'other' }, 'spec.namespace: Invalid value: "other": namespace is immutable'],
  [
    { source: { catalog: { packageName: 'other' } } },
    'spec.source.catalog.packageName: Invalid value: "other": packageName is immutable',
  ],
  [
    { serviceAccount: { name: 'other' } },
    'spec.serviceAccount.name: Invalid value: "other": name is immutable once set but may be cleared',
  ],
])('a change of a ClusterExtension to %j is refused', async (spec, text) => {
  const object = ofCatalog({}, { serviceAccount: { name: 'installer' } });
  await kubectl.must(['apply', '-f', '-'], JSON.stringify(object));
  const { code, stderr } = await kubectl.run([
    'patch',
    'clusterextension',
    'extension-kinds',
    '--type=merge',
    `--patch=${JSON.stringify({ spec })}`,
  ]);
  expect(stderr).toContain(text);
  expect(code).not.toBe(0);
});

test('a ClusterExtension may do without the serviceAccount that it had', async () => {
  const object = ofCatalog({}, { serviceAccount: { name: 'installer' } });
  await kubectl.must(['apply', '-f', '-'], JSON.stringify(object));
  await kubectl.must([
    'patch',
    'clusterextension',
    'extension-kinds',
    '--type=merge',
    `--patch=${JSON.stringify({ spec: { serviceAccount: null } })}`,
  ]);
});
