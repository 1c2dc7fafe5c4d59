import { describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { isLeftByRukpak, labelledOwner, ownershipMessage, ownershipOf } from './ownership.ts';

function owner(annotations: object = {}): BundleDeployment {
  return { metadata: { name: 'demo', annotations } } as unknown as BundleDeployment;
}

function judge(metadata: object, deployment = owner()) {
  const live = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'n', ...metadata },
  };
  return ownershipOf(live, deployment, 'rukpak-system');
}

function labels(name: string, kind = 'BundleDeployment'): object {
  return { labels: { 'core.rukpak.io/owner-kind': kind, 'core.rukpak.io/owner-name': name } };
}

function controlledBy(reference: object): object {
  const controller = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    uid: 'u',
    controller: true,
  };
  return { ownerReferences: [{ ...controller, ...reference }] };
}

function release(name: string, namespace: string): object {
  return {
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace },
  };
}

test.each([
  ['our controller reference', controlledBy({ name: 'demo' })],
  [
    'our controller reference, whatever the labels',
    { ...labels('other'), ...controlledBy({ name: 'demo' }) },
  ],
  ['our labels without a controller', labels('demo')],
])('ours by %s', (_, metadata) => {
  expect(judge(metadata)).toEqual({ verdict: 'ours' });
});

test.each([
  ['has no owner', {}],
  ['has no owner', labels('demo', 'Bundle')],
  ['belongs to BundleDeployment "other"', labels('other')],
  [
    'is controlled by BundleDeployment "other"',
    { ...labels('demo'), ...controlledBy({ name: 'other' }) },
  ],
  [
    'is controlled by ReplicaSet "demo"',
    controlledBy({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'demo' }),
  ],
  [
    'is controlled by BundleDeployment "demo"',
    controlledBy({ apiVersion: 'other.io/v1', name: 'demo' }),
  ],
  [
    'belongs to Helm release "other" in namespace "rukpak-system"',
    release('other', 'rukpak-system'),
  ],
  ['belongs to Helm release "demo" in namespace "default"', release('demo', 'default')],
])('refused: %s', (because, metadata) => {
  expect(judge(metadata)).toEqual({ verdict: 'refused', because });
});

test('the Helm release of the same name is taken over', () => {
  expect(judge(release('demo', 'rukpak-system'))).toEqual({
    verdict: 'adopt',
    dropControllers: false,
  });
});

describe('what RukPak wrote is left by it', () => {
  const managedFields = [{ manager: 'core', operation: 'Update', apiVersion: 'v1' }];

  function isLeft(metadata: object): boolean {
    const object = { name: 'c', namespace: 'n', managedFields, ...metadata };
    const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: object };
    return isLeftByRukpak(live, 'demo', 'rukpak-system');
  }

  test.each([
    ['as part of the release of this name', release('demo', 'rukpak-system')],
    ['without marks of Helm, as what it repaired', labels('demo')],
  ])('%s', (_, metadata) => {
    expect(isLeft(metadata)).toBe(true);
    expect(isLeft({ ...metadata, managedFields: [] })).toBe(false);
  });

  test.each([
    ['nobody says it is of this deployment', {}],
    ['it is of another deployment', labels('other')],
    [
      'it has no marks of Helm, and we have applied it since',
      {
        ...labels('demo'),
        managedFields: [
          { manager: 'core', operation: 'Update' },
          { manager: 'rukpak-core', operation: 'Apply', fieldsV1: {} },
        ],
      },
    ],
    ['it is of another release', { ...labels('demo'), ...release('other', 'rukpak-system') }],
    ['it is of a release elsewhere', release('demo', 'default')],
  ])('unless %s', (_, metadata) => {
    expect(isLeft(metadata)).toBe(false);
  });
});

test.each(['*', 'ConfigMap/n/c', 'Secret/n/x, ConfigMap/n/c '])('adopt=%s allows it', (adopt) => {
  const deployment = owner({ 'core.rukpak.io/adopt': adopt });
  expect(judge({}, deployment)).toEqual({ verdict: 'adopt', dropControllers: false });
  expect(judge(controlledBy({ name: 'other' }), deployment)).toEqual({
    verdict: 'adopt',
    dropControllers: true,
  });
});

test.each(['', 'ConfigMap/c', 'Secret/n/c', 'ConfigMap/n/c2'])('adopt=%s does not', (adopt) => {
  expect(judge({}, owner({ 'core.rukpak.io/adopt': adopt })).verdict).toBe('refused');
});

test('a cluster-scoped object is named without a namespace', () => {
  const deployment = owner({ 'core.rukpak.io/adopt': 'ConfigMap/c' });
  expect(judge({ namespace: undefined }, deployment).verdict).toBe('adopt');
});

test('the message names every object and the way out', () => {
  const refused = [
    { kind: 'ConfigMap', key: { namespace: 'default', name: 'foreign' }, because: 'has no owner' },
    { kind: 'ClusterRole', key: { name: 'r' }, because: 'belongs to BundleDeployment "b"' },
  ];
  expect(ownershipMessage(refused, owner(), 'update')).toBe(
    'rendered manifests contain a resource that already exists. Unable to continue with update: ' +
      'ConfigMap "foreign" in namespace "default" exists and cannot be imported into the current ' +
      'release: it has no owner; ' +
      'ClusterRole "r" in namespace "" exists and cannot be imported into the current ' +
      'release: it belongs to BundleDeployment "b". ' +
      'Delete or rename them, or if they are to belong to this BundleDeployment: ' +
      'kubectl annotate bundledeployment demo ' +
      'core.rukpak.io/adopt=ConfigMap/default/foreign,ClusterRole/r',
  );
});

test('a thousand objects make a short message', () => {
  const refused = Array.from({ length: 1000 }, (_, index) => ({
    kind: 'ConfigMap',
    key: { namespace: 'n', name: `c${index}` },
    because: 'has no owner',
  }));
  const message = ownershipMessage(refused, owner(), 'install');
  expect(message.length).toBeLessThan(3000);
  expect(message).toContain('; and 990 more. ');
  expect(message).toMatch(/core\.rukpak\.io\/adopt='\*'$/);
});

describe('a Bundle that was generated for a deployment', () => {
  const generated = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: {
      name: 'demo-1234',
      labels: {
        'core.rukpak.io/owner-kind': 'BundleDeployment',
        'core.rukpak.io/owner-name': 'demo',
        'core.rukpak.io/bundle-template-hash': '1234',
      },
      ...controlledBy({ name: 'demo' }),
    },
  };

  test("is nobody's content, not even by consent", () => {
    expect(labelledOwner(generated)).toBeUndefined();
    const adopting = owner({ 'core.rukpak.io/adopt': '*' });
    expect(ownershipOf(generated, adopting, 'rukpak-system')).toEqual({
      verdict: 'refused',
      because: 'was generated for BundleDeployment "demo"',
    });
  });

  test('is told from one that the content has', () => {
    const labels = {
      ...generated.metadata.labels,
      'applyset.kubernetes.io/part-of': 'applyset-x-v1',
    };
    const content = { ...generated, metadata: { ...generated.metadata, labels } };
    expect(labelledOwner(content)).toBe('demo');
    expect(ownershipOf(content, owner(), 'rukpak-system')).toEqual({ verdict: 'ours' });
  });
});
