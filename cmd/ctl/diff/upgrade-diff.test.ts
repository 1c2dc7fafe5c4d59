import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { deploymentApplySetID } from '../../../core/apply/index.ts';
import { anOwnedCRD, anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { shownObject, upgradeDiff } from './upgrade-diff.ts';

function aSecret(data: Readonly<Record<string, string>>): KubernetesObject {
  const copy = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"topsecret"}}' };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', annotations: copy }, data };
}

test('a Secret shows which values differ, and none of them', () => {
  const { before, after } = shownObject({
    before: aSecret({ same: 'topsecret', changed: 'topsecret', gone: 'topsecret' }),
    after: aSecret({ same: 'topsecret', changed: 'topsecret2', made: 'topsecret' }),
  });
  expect(before).toContain('data:\n  same: "***"\n  changed: "*** (before)"\n  gone: "***"\n');
  expect(after).toContain('data:\n  same: "***"\n  changed: "*** (after)"\n  made: "***"\n');
  expect(before + after).not.toContain('topsecret');
});

test('a Secret that is made or removed hides its values too', () => {
  const stringData = { a: 'topsecret' };
  const made = shownObject({ before: undefined, after: { ...aSecret({}), stringData } });
  expect(made).toMatchObject({ before: '', after: expect.stringContaining('a: "***"') });
  const gone = shownObject({ before: aSecret({ a: 'topsecret' }), after: undefined });
  expect(JSON.stringify([made, gone])).not.toContain('topsecret');
});

test('another kind is shown as it is, without what is the server’s', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', uid: 'u', resourceVersion: '1', generation: 2, managedFields: [] },
    data: { a: 'b' },
    status: {},
  } as KubernetesObject;
  const { after } = shownObject({ before: undefined, after: object });
  expect(after).toBe('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: b\n');
});

const keep = { annotations: { 'core.rukpak.io/keep': 'true' } };
const sample = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'kept' };

test.each([
  {
    why: 'it has annotation core.rukpak.io/keep',
    metadata: keep,
    leftOut: [],
  },
  {
    why: 'its class leaves it out: it is a sample',
    metadata: {},
    leftOut: [{ ...sample, because: 'it is a sample' }],
  },
])('an object that the upgrade would orphan is a change: $why', async (given) => {
  const { why, metadata, leftOut } = given;
  const { object } = anOwnedEntry('ConfigMap', { name: 'kept', metadata });
  const cluster = {
    client: {
      list: async () => ({ metadata: { resourceVersion: '1' }, items: [object] }),
    } as never,
    discovery: { resourceForGroupKind: async () => aResource('ConfigMap') } as never,
  };
  const labels = { 'applyset.kubernetes.io/id': deploymentApplySetID('demo') };
  const kinds = { 'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap' };
  const owner = aStoredDeployment({
    metadata: { name: 'demo', uid: 'uid-of-demo', labels, annotations: kinds },
  });
  const { signal } = new AbortController();
  const request = { owner, objects: [], leftOut, systemNamespace: 'rukpak-system', signal };
  const { changes } = await upgradeDiff(cluster, request);
  expect(changes).toEqual([
    {
      action: 'orphan',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'n',
      name: 'kept',
      diff: `orphan ConfigMap/n/kept (${why})\n`,
    },
  ]);
});

const kind = 'CustomResourceDefinition.apiextensions.k8s.io';

async function diffWithoutCRD(args: readonly string[]) {
  const { object } = anOwnedCRD('Gizmo');
  const containers = [{ name: 'core', args }];
  const core = { metadata: { name: 'core' }, spec: { template: { spec: { containers } } } };
  const cluster = {
    client: {
      get: async () => core,
      list: async () => ({ metadata: { resourceVersion: '1' }, items: [object] }),
    } as never,
    discovery: { resourceForGroupKind: async () => aResource(kind) } as never,
  };
  const labels = { 'applyset.kubernetes.io/id': deploymentApplySetID('demo') };
  const annotations = { 'applyset.kubernetes.io/contains-group-kinds': kind };
  const metadata = { name: 'demo', uid: 'uid-of-demo', labels, annotations };
  const owner = aStoredDeployment({ className: 'core-rukpak-io-plain', metadata });
  const { signal } = new AbortController();
  const request = { owner, objects: [], systemNamespace: 'rukpak-system', signal };
  return await upgradeDiff(cluster, request);
}

test('a CRD that the upgrade drops stays if that is the default of core', async () => {
  const { changes, warnings } = await diffWithoutCRD([
    'core',
    '--default-deletion-policy=KeepCRDs',
  ]);
  expect(warnings).toEqual([]);
  expect(changes).toMatchObject([
    {
      action: 'orphan',
      diff: 'orphan CustomResourceDefinition/gizmos.example.com (the deletion policy is KeepCRDs)\n',
    },
  ]);
});

test('a CRD that the upgrade drops comes with a warning if the default of core is unknown', async () => {
  const { changes, warnings } = await diffWithoutCRD([]);
  expect(changes).toMatchObject([{ action: 'prune' }]);
  expect(warnings).toEqual([
    'CustomResourceDefinition/gizmos.example.com is pruned with its custom resources, unless core runs with --default-deletion-policy KeepCRDs or Orphan',
  ]);
});
