import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError, type KubeClient, type Resource } from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { Inventory } from '../inventory/inventory.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { Orphaner, orphanObject } from './orphan.ts';

const outdated = new ApiError(422, { reason: 'Invalid', message: 'the test of a patch failed' });
const missing = new ApiError(404, { reason: 'NotFound', details: { name: 'a' } });
const unserved = new ApiError(404, { message: '404 page not found' });
const { signal } = new AbortController();

interface Patch {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** An API server with this object that first answers patches with these errors. */
function aServer(live: KubernetesObject | undefined, ...refusals: readonly ApiError[]) {
  const errors = [...refusals];
  const calls: string[] = [];
  const patches: (readonly Patch[])[] = [];
  return {
    calls,
    patches,
    client: {
      get: async () => {
        calls.push('get');
        if (live === undefined) throw missing;
        return live;
      },
      patch: async (_: unknown, patch: unknown) => {
        calls.push('patch');
        patches.push(patch as readonly Patch[]);
        const error = errors.shift();
        if (error !== undefined) throw error;
        return live ?? entry.object;
      },
    },
  };
}

const entry = anOwnedEntry('ConfigMap', {
  name: 'a',
  metadata: {
    annotations: { mine: '1' },
    ownerReferences: [
      {
        apiVersion: 'core.rukpak.io/v1alpha1',
        kind: 'BundleDeployment',
        name: 'demo',
        uid: 'uid-of-demo',
        controller: true,
      },
    ],
  },
});

function pathsOf(patch: readonly Patch[] | undefined): string[] {
  return (patch ?? []).map(({ op, path }) => `${op} ${path}`);
}

test('one request, of exactly what was seen, takes out everything that is ours', async () => {
  const server = aServer(entry.object);
  await orphanObject(server.client, entry, { owner: 'demo', signal });
  expect(server.calls).toEqual(['patch']);
  const [patch] = server.patches;
  expect(patch?.[0]).toEqual({ op: 'replace', path: '/metadata/resourceVersion', value: '1' });
  expect(pathsOf(patch).slice(1)).toEqual([
    'remove /metadata/labels/core.rukpak.io~1owner-kind',
    'remove /metadata/labels/core.rukpak.io~1owner-name',
    'remove /metadata/labels/applyset.kubernetes.io~1part-of',
    'remove /metadata/annotations/core.rukpak.io~1tracking-id',
    'add /metadata/annotations/core.rukpak.io~1left-by',
    'replace /metadata/ownerReferences',
    'test /metadata/managedFields/0/manager',
    'test /metadata/managedFields/0/operation',
    'replace /metadata/managedFields/0/fieldsV1',
  ]);
});

test('an object that is not as last seen is read, and our share of its fields found', async () => {
  const other = { apiVersion: 'v1', kind: 'Service', name: 'theirs', uid: 'x' };
  const { annotations: _, ...seen } = entry.object.metadata;
  const metadata = {
    ...seen,
    resourceVersion: '7',
    ownerReferences: [...(entry.object.metadata.ownerReferences ?? []), other],
    managedFields: [
      { manager: 'others', operation: 'Apply' },
      { manager: 'rukpak-core', operation: 'Apply', fieldsV1: {} },
    ],
  };
  const server = aServer({ ...entry.object, metadata }, outdated);
  await orphanObject(server.client, entry, { owner: 'demo', signal });
  expect(server.calls).toEqual(['patch', 'get', 'patch']);
  const patch = server.patches[1] ?? [];
  expect(patch[0]).toMatchObject({ value: '7' });
  expect(patch).toContainEqual({ op: 'add', path: '/metadata/annotations', value: {} });
  expect(patch).toContainEqual({
    op: 'replace',
    path: '/metadata/ownerReferences',
    value: [other],
  });
  expect(pathsOf(patch)).toContain('replace /metadata/managedFields/1/fieldsV1');
});

const hookRun = 'core.rukpak.io/hook-run';

function ofHook(managers: readonly string[]): KubernetesObject {
  const { annotations, ...rest } = entry.object.metadata;
  const metadata = {
    ...rest,
    annotations: { ...annotations, [hookRun]: 'pre-install' },
    managedFields: managers.map((manager) => ({ manager, operation: 'Apply', fieldsV1: {} })),
  };
  return { ...entry.object, metadata };
}

test('an object of a hook stays one until core applies it as an ordinary object', async () => {
  const object = ofHook(['rukpak-core']);
  const server = aServer(object);
  await orphanObject(server.client, { ...entry, object }, { owner: 'demo', signal });
  const [patch = []] = server.patches;
  expect(pathsOf(patch)).not.toContain('remove /metadata/annotations/core.rukpak.io~1hook-run');
  // An apply removes the fields that its manager had and does not send again.
  expect(patch.at(-1)?.value).toEqual({
    'f:metadata': {
      'f:annotations': { 'f:core.rukpak.io/left-by': {}, [`f:${hookRun}`]: {} },
    },
  });
});

test('no apply would remove the mark of a hook where core has no fields: core removes it', async () => {
  const object = ofHook(['others']);
  const server = aServer(object, outdated);
  await orphanObject(server.client, { ...entry, object }, { owner: 'demo', signal });
  const paths = pathsOf(server.patches[1]);
  expect(paths).toContain('remove /metadata/annotations/core.rukpak.io~1hook-run');
  expect(paths.join()).not.toContain('managedFields');
});

test.each<[why: string, live: KubernetesObject | undefined]>([
  ['is gone', undefined],
  ['is a namesake', { ...entry.object, metadata: { ...entry.object.metadata, uid: 'another' } }],
  ['has become somebody else’s', { ...entry.object, metadata: { uid: 'uid-of-a', labels: {} } }],
])('what %s meanwhile stays as it is', async (_, live) => {
  const server = aServer(live, outdated);
  await orphanObject(server.client, entry, { owner: 'demo', signal });
  expect(server.calls).toEqual(['patch', 'get']);
});

test('one that is gone at once is no failure; what the server refuses is', async () => {
  const gone = aServer(undefined, missing);
  await orphanObject(gone.client, entry, { owner: 'demo', signal });
  expect(gone.calls).toEqual(['patch']);
  const forbidden = new ApiError(403, { reason: 'Forbidden' });
  const server = aServer(entry.object, forbidden);
  await expect(orphanObject(server.client, entry, { owner: 'demo', signal })).rejects.toBe(
    forbidden,
  );
});

test('one whose version the server no longer serves is not gone: the failure is told', async () => {
  const marks = { owner: 'demo', signal };
  const server = aServer(entry.object, unserved);
  await expect(orphanObject(server.client, entry, marks)).rejects.toBe(unserved);
  const { client } = aServer(entry.object, outdated);
  const get = async () => {
    throw unserved;
  };
  await expect(orphanObject({ ...client, get }, entry, marks)).rejects.toBe(unserved);
});

test('a Warning tells of a CRD that stays without the Service of its conversion webhook', async () => {
  const inventory = new Inventory();
  const crd = anOwnedCRD('Gizmo', inventory);
  const service = anOwnedEntry('Service', { name: 'painter-service' }, inventory);
  const clientConfig = { service: { namespace: 'n', name: 'painter-service' } };
  const live = {
    ...crd.object,
    spec: {
      conversion: { strategy: 'Webhook', webhook: { clientConfig } },
      versions: [
        { name: 'v1', served: true, storage: false },
        { name: 'v2', served: true, storage: true },
      ],
    },
  };
  const { client } = aServer(live);
  const events = new EventList();
  const owners = new OwnerStates(new ManualClock());
  const orphaner = new Orphaner({
    client: client as unknown as KubeClient,
    events,
    owners,
    inventory,
    onLost: () => undefined,
    notify: () => undefined,
  });
  const request = { owner: aStoredDeployment(), client: client as unknown as KubeClient, signal };
  const orphan = new Map([[crd, 'the deletion policy is KeepCRDs']]);
  await orphaner.orphan(request, { orphan, remove: [service] });
  expect(events.taken()).toEqual([
    'Normal ObjectKept: Core orphaned CustomResourceDefinition/gizmos.example.com: the deletion policy is KeepCRDs',
    expect.stringMatching(
      /^Warning ConversionLost: CustomResourceDefinition\/gizmos.example.com stays, and core deletes Service\/n\/painter-service/,
    ),
  ]);
});

/** What is patched, and which kinds are lost, before that error ends the attempt to orphan both. */
async function attempted(error: ApiError) {
  const inventory = new Inventory();
  const gizmo = anOwnedEntry('Gizmo.example.com', { name: 'one' }, inventory);
  const crd = anOwnedCRD('Gizmo', inventory);
  const patched: string[] = [];
  const lost: string[] = [];
  const client = {
    patch: async ({ key }: InventoryEntry) => {
      patched.push(key.name);
      throw error;
    },
  } as unknown as KubeClient;
  const owners = new OwnerStates(new ManualClock());
  const events = new EventList();
  const onLost = ({ kind }: Resource): void => void lost.push(kind);
  const notify = () => undefined;
  const orphaner = new Orphaner({ client, events, owners, inventory, onLost, notify });
  const because = 'its class leaves it out: it is a sample';
  const orphan = new Map([gizmo, crd].map((each) => [each, because]));
  const request = { owner: aStoredDeployment(), client, signal };
  await expect(orphaner.orphan(request, { orphan, remove: [] })).rejects.toThrow(error.message);
  expect(events.taken()).toEqual([]);
  return { patched, lost };
}

test('custom resources keep their marks until their CRD is orphaned', async () => {
  const forbidden = new ApiError(403, { reason: 'Forbidden', message: 'a policy says no' });
  expect(await attempted(forbidden)).toEqual({ patched: ['gizmos.example.com'], lost: [] });
});

test('a kind that is no longer served is looked for again in the next attempt', async () => {
  expect((await attempted(unserved)).lost).toEqual(['CustomResourceDefinition']);
});
