import { describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { deploymentApplySetID, labelledOwner } from '../objects/owner-marks.ts';
import { isLeftByRukpak, ownershipOf } from './ownership.ts';

function owner(annotations: object = {}, spec: object = {}): BundleDeployment {
  return { metadata: { name: 'demo', uid: 'u', annotations }, spec } as unknown as BundleDeployment;
}

const labelled = { 'applyset.kubernetes.io/id': deploymentApplySetID('demo') };
const takenOver = { ...owner(), metadata: { ...owner().metadata, labels: labelled } };

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

/** An object that core made for a deployment of that name, with any UID. */
function made(name: string, uid = 'u'): object {
  const annotations = { 'core.rukpak.io/tracking-id': `${uid}:/ConfigMap:n/c` };
  return { ...labels(name), annotations };
}

/** An object that a deployment of that name orphaned. */
function left(by: string): object {
  return { annotations: { 'core.rukpak.io/left-by': by } };
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

const applied = { manager: 'rukpak-core', operation: 'Apply', fieldsV1: {} };

test.each([
  ['our controller reference', controlledBy({ name: 'demo' })],
  [
    'our controller reference, whatever the labels',
    { ...labels('other'), ...controlledBy({ name: 'demo' }) },
  ],
  ['our labels and mark', made('demo')],
  ['our mark alone', { annotations: { 'core.rukpak.io/tracking-id': 'u:/ConfigMap:n/c' } }],
  ['our labels and the mark of an earlier namesake, as in a backup', made('demo', 'earlier')],
  [
    'our labels on what we applied before there were marks',
    { ...labels('demo'), managedFields: [applied] },
  ],
])('ours by %s', (_, metadata) => {
  expect(judge(metadata)).toEqual({ verdict: 'ours' });
});

test.each([
  ['has no owner', {}, false],
  [
    'has the labels of BundleDeployment "demo", which did not create it (annotation core.rukpak.io/tracking-id is missing or of another object)',
    labels('demo'),
    false,
  ],
  [
    'has the labels of BundleDeployment "demo", which did not create it (annotation core.rukpak.io/tracking-id is missing or of another object)',
    { ...labels('demo'), annotations: { 'core.rukpak.io/tracking-id': 'u:/ConfigMap:n/other' } },
    false,
  ],
  ['has no owner', labels('demo', 'Bundle'), false],
  [
    'is controlled by ReplicaSet "demo"',
    controlledBy({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'demo' }),
    true,
  ],
  [
    'is controlled by BundleDeployment "demo"',
    controlledBy({ apiVersion: 'other.io/v1', name: 'demo' }),
    true,
  ],
  [
    'belongs to Helm release "other" in namespace "rukpak-system"',
    release('other', 'rukpak-system'),
    true,
  ],
  ['belongs to Helm release "demo" in namespace "default"', release('demo', 'default'), true],
])('refused: %s', (because, metadata, needsAlways) => {
  expect(judge(metadata)).toEqual({ verdict: 'refused', because, needsAlways });
});

describe('what another deployment has', () => {
  const others = [
    ['belongs to', made('other', 'x')],
    ['is controlled by', { ...labels('demo'), ...controlledBy({ name: 'other' }) }],
  ] as const;

  test.each(others)('is refused with its name, whatever is adopted: it %s it', (verb, metadata) => {
    const because = `${verb} BundleDeployment "other"`;
    const refused = { verdict: 'refused', because, deployment: 'other', needsAlways: true };
    expect(judge(metadata)).toEqual(refused);
    expect(judge(metadata, owner({}, { adoption: 'Always' }))).toEqual(refused);
    expect(judge(metadata, owner({ 'core.rukpak.io/adopt': '*' }))).toEqual(refused);
  });

  test.each(others)(
    'stays with the deployment that it was transferred to: it %s it',
    (_, metadata) => {
      const giver = owner({ 'core.rukpak.io/hand-over': 'some, other' });
      expect(judge(metadata, giver)).toEqual({ verdict: 'transferred', to: 'other' });
    },
  );
});

describe('spec.adoption', () => {
  const foreign = controlledBy({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x' });
  const named = { 'core.rukpak.io/adopt': '*' };

  test.each([
    ['Never', {}, 'refused'],
    ['Never', release('demo', 'rukpak-system'), 'refused'],
    ['Never', left('demo'), 'refused'],
    [undefined, left('demo'), 'adopt'],
    [undefined, left('other'), 'refused'],
    ['Unowned', left('other'), 'adopt'],
    ['Never', made('demo'), 'ours'],
    ['Never', labels('demo'), 'refused'],
    ['Unowned', labels('demo'), 'adopt'],
    ['Unowned', {}, 'adopt'],
    ['Unowned', release('demo', 'rukpak-system'), 'adopt'],
    ['Unowned', release('other', 'default'), 'refused'],
    ['Unowned', foreign, 'refused'],
    ['Always', {}, 'adopt'],
    ['Always', release('other', 'default'), 'adopt'],
    ['Always', foreign, 'adopt'],
  ])('%s: %j is %s', (adoption, metadata, verdict) => {
    expect(judge(metadata, owner({}, { adoption })).verdict).toBe(verdict);
  });

  test.each([
    ['Never', 'refused'],
    ['Unowned', 'adopt'],
    ['Always', 'adopt'],
  ])('%s with the annotation: what has a controller is %s', (adoption, verdict) => {
    expect(judge(foreign, owner(named, { adoption })).verdict).toBe(verdict);
  });
});

test('the Helm release of the same name is taken over', () => {
  expect(judge(release('demo', 'rukpak-system'))).toEqual({
    verdict: 'adopt',
    dropControllers: false,
  });
});

describe('what RukPak wrote is left by it', () => {
  const managedFields = [{ manager: 'core', operation: 'Update', apiVersion: 'v1' }];

  function isLeft(metadata: object, deployment = owner()): boolean {
    const object = { name: 'c', namespace: 'n', managedFields, ...metadata };
    const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: object };
    return isLeftByRukpak(live, deployment, 'rukpak-system');
  }

  test('and what it repaired, until the deployment is taken over', () => {
    const repaired = [
      { manager: 'rukpak-core', operation: 'Apply', fieldsV1: {} },
      { manager: 'Go-http-client', operation: 'Update', fieldsV1: {} },
    ];
    const metadata = { ...release('demo', 'rukpak-system'), managedFields: repaired };
    expect(isLeft({ ...metadata, managedFields: repaired.slice(1) }, takenOver)).toBe(true);
    expect(isLeft(metadata)).toBe(true);
    expect(isLeft(metadata, takenOver)).toBe(false);
  });

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
  const foreign = controlledBy({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'other' });
  expect(judge(foreign, deployment)).toEqual({ verdict: 'adopt', dropControllers: true });
});

test.each(['', 'ConfigMap/c', 'Secret/n/c', 'ConfigMap/n/c2'])('adopt=%s does not', (adopt) => {
  expect(judge({}, owner({ 'core.rukpak.io/adopt': adopt })).verdict).toBe('refused');
});

test('a cluster-scoped object is named without a namespace', () => {
  const deployment = owner({ 'core.rukpak.io/adopt': 'ConfigMap/c' });
  expect(judge({ namespace: undefined }, deployment).verdict).toBe('adopt');
});

describe('of namespaces', () => {
  function judgeNamespace(metadata: object, deployment = owner()) {
    const live = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', ...metadata } };
    return ownershipOf(live, deployment, 'rukpak-system').verdict;
  }

  test.each(['Unowned', 'Always'])(
    'one that core did not make is never taken with %s',
    (adoption) => {
      const taker = owner({ 'core.rukpak.io/adopt': '*' }, { adoption });
      expect(judgeNamespace({}, taker)).toBe('refused');
      const node = { apiVersion: 'v1', kind: 'Node', name: 'x' };
      expect(judgeNamespace({ ...controlledBy(node), ...left('demo') }, taker)).toBe('refused');
      expect(judgeNamespace(release('other', 'default'), taker)).toBe('refused');
    },
  );

  test('one that any deployment has left is the next one’s that wants it', () => {
    expect(judgeNamespace(left('other'))).toBe('adopt');
    expect(judgeNamespace(release('demo', 'rukpak-system'))).toBe('adopt');
    expect(judgeNamespace(left('demo'), owner({}, { adoption: 'Never' }))).toBe('refused');
  });
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

  test('is never content, not even by consent', () => {
    expect(labelledOwner(generated)).toBeUndefined();
    const adopting = owner({ 'core.rukpak.io/adopt': '*' });
    expect(ownershipOf(generated, adopting, 'rukpak-system')).toEqual({
      verdict: 'refused',
      because: 'was generated for BundleDeployment "demo"',
      needsAlways: true,
    });
  });

  test('is distinguished from one in the content', () => {
    const labels = {
      ...generated.metadata.labels,
      'applyset.kubernetes.io/part-of': 'applyset-x-v1',
    };
    const content = { ...generated, metadata: { ...generated.metadata, labels } };
    expect(labelledOwner(content)).toBe('demo');
    expect(ownershipOf(content, owner(), 'rukpak-system')).toEqual({ verdict: 'ours' });
  });
});
