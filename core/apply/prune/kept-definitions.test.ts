import { describe, expect, test, vi } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError, type ObjectKey, type Resource } from '../../platform/kube/index.ts';
import type { ListOptions } from '../../platform/kube/kube-client.ts';
import { orphanDefinitions, orphanOfLeftDefinitions } from './kept-definitions.ts';

const keep = { 'core.rukpak.io/keep': 'true' };
const v1 = { name: 'v1', served: true, storage: true };

interface LiveDefinition {
  readonly versions?: readonly (typeof v1)[];
  readonly established?: 'True' | 'False';
}

/** The CRD as the API server has it. */
function aLiveCRD({ versions = [v1], established = 'True' }: LiveDefinition): KubernetesObject {
  const names = { kind: 'Gizmo', plural: 'gizmos' };
  const conditions = [{ type: 'Established', status: established }];
  return {
    ...anOwnedCRD('Gizmo').object,
    spec: { group: 'example.com', names, scope: 'Namespaced', versions },
    status: { conditions },
  };
}

interface Others {
  readonly deployments?: readonly BundleDeployment[];
  readonly patience?: () => Promise<void>;
}

/**
 * What becomes of the CRD of these custom resources, each on a page of its own. The API server
 * lists them in version v1 alone.
 */
async function judged(
  resources: readonly ObjectMeta[] | Error,
  live: KubernetesObject | 'gone' = aLiveCRD({}),
  { deployments = [], patience }: Others = {},
) {
  const crd = anOwnedCRD('Gizmo');
  const remove = [crd, anOwnedEntry('ConfigMap', { name: 'goes' })];
  const plan = await orphanDefinitions(
    { orphan: new Map(), remove, undecided: new Map() },
    {
      owner: 'demo',
      client: {
        get: async ({ kind }: Resource, { name }: ObjectKey) => {
          if (kind === 'BundleDeployment') {
            const found = deployments.find(({ metadata }) => metadata.name === name);
            if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
            return found;
          }
          if (live === 'gone') throw new ApiError(404, { reason: 'NotFound' });
          return live;
        },
        list: async (
          { version, plural, namespaced }: Resource,
          { continue: token = '0', metadataOnly }: ListOptions = {},
        ) => {
          if (resources instanceof Error) throw resources;
          if (version !== 'v1') throw new ApiError(404, { message: '404 page not found' });
          expect({ plural, namespaced }).toEqual({ plural: 'gizmos', namespaced: true });
          expect(metadataOnly).toBe(true);
          const metadata = resources[Number(token)];
          const items = metadata === undefined ? [] : [{ metadata } as KubernetesObject];
          const next = String(Number(token) + 1);
          const more = Number(next) < resources.length ? { continue: next } : {};
          return { metadata: { resourceVersion: '1', ...more }, items };
        },
      },
      ...(patience && { patience }),
      signal: new AbortController().signal,
    },
  );
  return {
    because: plan.orphan.get(crd),
    undecided: plan.undecided.get(crd)?.message,
    removed: plan.remove.includes(crd),
  };
}

const gone = { because: undefined, undecided: undefined, removed: true };

test('a CRD stays with a kept custom resource of anybody, on whatever page it is', async () => {
  const theirs = { name: 'theirs', namespace: 'n', annotations: keep };
  expect(await judged([{ name: 'other', namespace: 'n' }, theirs])).toEqual({
    because: 'Gizmo/n/theirs is kept, and the API server would delete it with its CRD',
    undecided: undefined,
    removed: false,
  });
});

test.each<[string, readonly ObjectMeta[] | Error]>([
  ['there is none', []],
  ['none is kept', [{ name: 'other' }]],
  ['the kept one is being deleted', [{ name: 'x', annotations: keep, deletionTimestamp: 't' }]],
])('a CRD goes where %s', async (_, resources) => {
  expect(await judged(resources)).toEqual(gone);
});

describe('a custom resource with the labels of a deployment', () => {
  const labels = (owner: string) => ({
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': owner,
  });
  const both = [
    { name: 'own', namespace: 'n', labels: labels('demo') },
    { name: 'theirs', namespace: 'n', labels: labels('tenant') },
  ];

  test('keeps the CRD of another deployment', async () => {
    const tenant = aStoredDeployment({ name: 'tenant' });
    expect(await judged(both, aLiveCRD({}), { deployments: [tenant] })).toEqual({
      because:
        'Gizmo/n/theirs is of BundleDeployment "tenant", and the API server would delete it with its CRD',
      undecided: undefined,
      removed: false,
    });
  });

  test('goes with its CRD where its deployment goes, too, or is gone', async () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const going = aStoredDeployment({ name: 'tenant', metadata });
    expect(await judged(both, aLiveCRD({}), { deployments: [going] })).toEqual(gone);
    expect(await judged(both)).toEqual(gone);
  });

  test('goes with its CRD where its deployment is deleted a moment later', async () => {
    const all = ['a', 'b', 'c'].map((name) => ({ name, namespace: 'n', labels: labels('tenant') }));
    const deployments = [aStoredDeployment({ name: 'tenant' })];
    const patience = vi.fn(async () => void deployments.pop());
    expect(await judged(all, aLiveCRD({}), { deployments, patience })).toEqual(gone);
    expect(patience).toHaveBeenCalledOnce();
    const other = [aStoredDeployment({ name: 'tenant' })];
    const { because } = await judged(all, aLiveCRD({}), {
      deployments: other,
      patience: async () => {},
    });
    expect(because).toContain('BundleDeployment "tenant"');
  });

  test('lets the CRD wait while its deployment cannot be read', async () => {
    const unread = {
      get metadata(): never {
        throw new Error('the API server is busy');
      },
    } as unknown as BundleDeployment;
    expect((await judged(both, aLiveCRD({}), { deployments: [unread] })).undecided).toContain(
      'the API server is busy',
    );
  });
});

test('a CRD goes that is gone, or that the API server has never accepted', async () => {
  const missing = new ApiError(404, { message: '404 page not found' });
  const refused = aLiveCRD({ established: 'False' });
  expect(await judged(missing, refused)).toEqual(gone);
  const before = new ApiError(404, { reason: 'NotFound' });
  expect(await judged(before, 'gone')).toEqual(gone);
});

test('the custom resources are listed in the version that needs no conversion', async () => {
  const theirs = { name: 'theirs', namespace: 'n', annotations: keep };
  const because = 'Gizmo/n/theirs is kept, and the API server would delete it with its CRD';
  const newer = { name: 'v2', served: true, storage: false };
  const older = { name: 'v0', served: false, storage: false };
  const live = aLiveCRD({ versions: [newer, older, v1] });
  expect(await judged([theirs], live)).toMatchObject({ because });
  const unstored = { ...v1, storage: false };
  const stored = { name: 'v2', served: false, storage: true };
  expect(await judged([theirs], aLiveCRD({ versions: [stored, unstored] }))).toMatchObject({
    because,
  });
});

test('a CRD of which no version is served stays: it may have kept custom resources', async () => {
  const live = aLiveCRD({ versions: [{ ...v1, served: false }] });
  expect(await judged([], live)).toEqual({
    because:
      'the API server serves no version of it, so core cannot see whether its custom resources must be kept',
    undecided: undefined,
    removed: false,
  });
});

test('a version that the API server does not serve yet is no proof of an empty CRD', async () => {
  const live = aLiveCRD({ versions: [{ ...v1, name: 'v2' }] });
  expect(await judged([], live)).toMatchObject({
    undecided: expect.stringContaining('404 page not found'),
  });
});

test('a CRD waits while its custom resources cannot be listed', async () => {
  expect(await judged(new Error('conversion webhook failed'))).toEqual({
    because: undefined,
    undecided:
      'core cannot tell whether custom resources of gizmos.example.com must be kept: conversion webhook failed. Repair the CRD, or delete it',
    removed: true,
  });
});

test('KeepCRDs holds for custom resources of a CRD that core orphaned before', async () => {
  const asked: string[] = [];
  const crd = anOwnedCRD('Gizmo').object;
  const client = (leftBy: string) => ({
    get: async (_: unknown, { name }: { readonly name: string }) => {
      asked.push(name);
      return {
        ...crd,
        metadata: { ...crd.metadata, annotations: { [annotation.leftBy]: leftBy } },
      };
    },
  });
  const gizmo = anOwnedEntry('Gizmo.example.com', { name: 'one' });
  const remove = [gizmo, anOwnedEntry('Deployment.apps', { name: 'web' })];
  // The garbage collector deletes the objects of hooks: they are not in the plan.
  const ofHook = anOwnedEntry('Gizmo.example.com', { name: 'of-hook' });
  const hooks = [ofHook, anOwnedEntry('Job.batch', { name: 'load' })];
  const signal = new AbortController().signal;
  const planned = async (policy: DeletionPolicy, leftBy: string) => {
    const query = { owner: aStoredDeployment(), policy, client: client(leftBy), hooks, signal };
    const { orphan } = await orphanOfLeftDefinitions({ orphan: new Map(), remove }, query);
    return [...orphan];
  };
  const because = 'the deletion policy is KeepCRDs';
  expect(await planned('KeepCRDs', 'demo')).toEqual([
    [gizmo, because],
    [ofHook, because],
  ]);
  expect(await planned('KeepCRDs', 'another')).toEqual([]);
  expect(asked).toEqual(['gizmos.example.com', 'gizmos.example.com']);
  expect(await planned('Delete', 'demo')).toEqual([]);
  const query = { owner: aStoredDeployment(), policy: 'KeepCRDs', signal } as const;
  const wanted = [anOwnedCRD('Gizmo')];
  const own = await orphanOfLeftDefinitions(
    { orphan: new Map(), remove },
    { ...query, client: client('demo'), wanted },
  );
  expect(own.remove).toEqual(remove);
});

test('so it does in groups that Kubernetes has approved, whose CRDs are custom too', async () => {
  const gateway = anOwnedEntry('Gateway.gateway.networking.k8s.io', { name: 'one' });
  const asked: string[] = [];
  const { object } = anOwnedCRD('Gateway');
  const annotations = { [annotation.leftBy]: 'demo' };
  const client = {
    get: async (_: unknown, { name }: { readonly name: string }) => {
      asked.push(name);
      return { ...object, metadata: { ...object.metadata, annotations } };
    },
  };
  const others = ['ConfigMap', 'Deployment.apps'].map((kind) => anOwnedEntry(kind, { name: 'x' }));
  const plan = { orphan: new Map(), remove: [gateway, ...others] };
  const { signal } = new AbortController();
  const policy = 'KeepCRDs';
  const query = { owner: aStoredDeployment(), policy, client, hooks: [], signal } as const;
  const { orphan } = await orphanOfLeftDefinitions(plan, query);
  expect([...orphan.keys()]).toEqual([gateway]);
  expect(asked).toEqual(['gateways.gateway.networking.k8s.io']);
});
