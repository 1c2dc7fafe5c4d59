import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import { aResource } from '../../../test/helpers/owned-entry.ts';
import { ApiError, type Resource } from '../../platform/kube/index.ts';
import type { ListOptions } from '../../platform/kube/kube-client.ts';
import { contentOfOthers } from './namespace-content.ts';

const kinds = [
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'Event',
  'Event.events.k8s.io',
  'Endpoints',
  'Lease.coordination.k8s.io',
  'Deployment.apps',
  'EndpointSlice.discovery.k8s.io',
  'Gizmo.example.com',
  ...['Event', 'Endpoints', 'Lease', 'ServiceAccount', 'Secret'].map(
    (kind) => `${kind}.example.com`,
  ),
].map(aResource);

const missing = new ApiError(404, { message: '404 page not found' });

/** A namespace's content by kind; an error for a kind whose list fails. */
type Content = Readonly<Record<string, readonly ObjectMeta[] | Error>>;

/** Kinds of group example.com have their group, except Gizmos. */
function contentKey({ kind, group }: Resource): string {
  return group === 'example.com' && kind !== 'Gizmo' ? `${kind}.${group}` : kind;
}

interface Cluster {
  /** The error of discovery. */
  readonly silent?: Error;
  /** The CRD of Gizmos, unless it is gone. */
  readonly definition?: ObjectMeta;
  readonly deletionsSent?: boolean;
}

async function others(
  content: Content,
  { silent, definition, deletionsSent = false }: Cluster = {},
): Promise<string | undefined> {
  return await contentOfOthers('n', {
    deletionsSent,
    client: {
      get: async (_, { name }) => {
        if (name !== 'gizmos.example.com' || definition === undefined) throw missing;
        return { metadata: definition } as KubernetesObject;
      },
      list: async (resource: Resource, { continue: page }: ListOptions = {}) => {
        const found = content[contentKey(resource)] ?? [];
        if (found instanceof Error) throw found;
        // Empty lists answer last.
        if (found.length === 0) await setTimeout(1);
        const [first, ...rest] = page === undefined ? found : found.slice(1);
        const shown = first === undefined ? [] : [{ metadata: first } as KubernetesObject];
        const next = page === undefined && rest.length > 0 ? { continue: 'next' } : {};
        return { metadata: { resourceVersion: '1', ...next }, items: shown };
      },
    },
    discovery: {
      namespacedResources: async () => {
        if (silent !== undefined) throw silent;
        return kinds;
      },
      resourceForGroupKind: async (group, kind) =>
        kinds.find((each) => each.group === group && each.kind === kind),
      invalidate: () => undefined,
    },
    going: new Set(['|ConfigMap|n|ours|u1']),
    ownerUID: 'uid-of-demo',
    otherUsers: () => [],
    signal: AbortSignal.timeout(120_000),
  });
}

const owned = (apiVersion: string, kind: string, uid: string) => ({
  ownerReferences: [{ apiVersion, kind, name: 'x', uid }],
});

test('what is to go, what belongs to that, and what is in every namespace does not count', async () => {
  const content = {
    ConfigMap: [{ name: 'ours', uid: 'u1' }, { name: 'kube-root-ca.crt' }],
    Secret: [
      { name: 'made', ...owned('apps/v1', 'Deployment', 'd') },
      {
        name: 'certificate',
        ...owned('core.rukpak.io/v1alpha1', 'BundleDeployment', 'uid-of-demo'),
      },
    ],
    ServiceAccount: [{ name: 'default' }],
    Event: [{ name: 'something' }],
    Endpoints: [{ name: 'something' }],
    Lease: [{ name: 'leader' }],
  };
  expect(await others(content)).toBeUndefined();
});

test.each<[string, Content]>([
  ['ConfigMap/n/theirs', { ConfigMap: [{ name: 'ours', uid: 'u1' }, { name: 'theirs' }] }],
  ['Secret/n/theirs', { Secret: [{ name: 'theirs' }] }],
  ['Deployment/n/theirs', { Deployment: [{ name: 'theirs', ...owned('v1', 'Node', 'x') }] }],
  // Kinds of users may have the names of kinds that hold no data.
  ['Event/n/concert', { 'Event.example.com': [{ name: 'concert' }] }],
  ['Endpoints/n/theirs', { 'Endpoints.example.com': [{ name: 'theirs' }] }],
  ['Lease/n/flat', { 'Lease.example.com': [{ name: 'flat' }] }],
  ['ServiceAccount/n/default', { 'ServiceAccount.example.com': [{ name: 'default' }] }],
  [
    'Secret/n/theirs',
    {
      'Secret.example.com': [
        { name: 'theirs', annotations: { 'kubernetes.io/service-account.name': 'x' } },
      ],
    },
  ],
])('%s keeps its namespace, however late what is empty answers', async (path, content) => {
  expect(await others(content)).toBe(`it holds ${path}, which core does not delete`);
});

const deletionTimestamp = '2026-01-01T00:00:00Z';

test.each([false, true])(
  'what is being deleted already does not count, whoever asked for it (deletions sent: %s)',
  async (deletionsSent) => {
    const ConfigMap = [{ name: 'theirs', uid: 'other', deletionTimestamp }];
    expect(await others({ ConfigMap }, { deletionsSent })).toBeUndefined();
  },
);

test('an object whose dependents are to outlive it counts until the API server has freed them', async () => {
  const Deployment = [{ name: 'web', deletionTimestamp, finalizers: ['orphan'] }];
  expect(await others({ Deployment })).toContain('it holds Deployment/n/web');
});

const deployment = owned('apps/v1', 'Deployment', 'd').ownerReferences;
const lease = owned('coordination.k8s.io/v1', 'Lease', 'l').ownerReferences;
const node = owned('v1', 'Node', 'x').ownerReferences;
const endpoints = owned('v1', 'Endpoints', 'e').ownerReferences;

test.each<[string, NonNullable<ObjectMeta['ownerReferences']>, string | undefined]>([
  ['what is looked at itself', deployment, undefined],
  ['what is not looked at', lease, 'Secret/n/x'],
  ['what stays, too', [...deployment, ...node], 'Secret/n/x'],
  ['what is not looked at, too', [...deployment, ...lease], 'Secret/n/x'],
])(
  'an object goes with its owners only if all of them go: %s',
  async (_, ownerReferences, path) => {
    const found = await others({ Secret: [{ name: 'x', ownerReferences }] });
    expect(found).toBe(path && `it holds ${path}, which core does not delete`);
  },
);

test('the slices that Kubernetes makes of Endpoints go with them', async () => {
  const EndpointSlice = [{ name: 'x', ownerReferences: endpoints }];
  expect(await others({ EndpointSlice })).toBeUndefined();
});

test('a kind of which the listed version is not served has no objects only if its CRD goes', async () => {
  expect(await others({ Gizmo: missing })).toBeUndefined();
  const definition = { name: 'gizmos.example.com' };
  const going = { ...definition, deletionTimestamp };
  expect(await others({ Gizmo: missing }, { definition: going })).toBeUndefined();
  await expect(others({ Gizmo: missing }, { definition })).rejects.toThrow(
    'cannot tell what Namespace n holds: 404 page not found',
  );
});

test('nobody can tell while a kind cannot be listed, or an API does not answer', async () => {
  const refused = others({ Secret: new Error('secrets is forbidden') });
  await expect(refused).rejects.toThrow('cannot tell what Namespace n holds: secrets is forbidden');
  await expect(others({}, { silent: new Error('no answer') })).rejects.toThrow('holds: no answer');
});
