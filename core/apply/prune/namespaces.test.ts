import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import { aResource } from '../../../test/helpers/owned-entry.ts';
import type { Resource } from '../../platform/kube/index.ts';
import type { ListOptions } from '../../platform/kube/kube-client.ts';
import { contentOfOthers } from './namespaces.ts';

const kinds = [
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'Event',
  'Event.events.k8s.io',
  'Endpoints',
  'Lease.coordination.k8s.io',
  'Deployment.apps',
  ...['Event', 'Endpoints', 'Lease', 'ServiceAccount', 'Secret'].map(
    (kind) => `${kind}.example.com`,
  ),
].map(aResource);

/** A namespace's content by kind; an error for a kind whose list fails. */
type Content = Readonly<Record<string, readonly ObjectMeta[] | Error>>;

async function others(content: Content, silent?: Error): Promise<string | undefined> {
  return await contentOfOthers('n', {
    client: {
      list: async (resource: Resource, { continue: page }: ListOptions = {}) => {
        const { kind, group } = resource;
        const found = content[group === 'example.com' ? `${kind}.${group}` : kind] ?? [];
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

test('nobody can tell while a kind cannot be listed, or an API does not answer', async () => {
  const refused = others({ Secret: new Error('secrets is forbidden') });
  await expect(refused).rejects.toThrow('cannot tell what Namespace n holds: secrets is forbidden');
  await expect(others({}, new Error('no answer'))).rejects.toThrow('holds: no answer');
});
