import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aResource } from '../../../test/helpers/owned-entry.ts';
import { podResource, type Resource } from '../../platform/kube/index.ts';
import type { ListOptions } from '../../platform/kube/kube-client.ts';
import { podReason, workloadReason } from './pod-reason.ts';

const selector = {
  matchLabels: { app: 'web' },
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'old', operator: 'DoesNotExist' },
  ],
};
const crashing = [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }];

async function reasonOf(status: object, ...podStatuses: readonly object[]) {
  const asked: (ListOptions | undefined)[] = [];
  const client = {
    get: async (): Promise<KubernetesObject> => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { selector },
      status,
    }),
    list: async (_: Resource, options?: ListOptions) => {
      asked.push(options);
      const items = podStatuses.map((podStatus, index) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `web-${index}` },
        status: podStatus,
      }));
      return { metadata: { resourceVersion: '1' }, items };
    },
  };
  const object = { resource: aResource('Deployment.apps'), key: { namespace: 'n', name: 'web' } };
  const reason = await workloadReason(client, object, new AbortController().signal);
  return { reason, asked };
}

test('the first pod that says why', async () => {
  const { reason, asked } = await reasonOf({}, {}, { containerStatuses: crashing });
  expect(reason).toBe('Pod web-1: container app: CrashLoopBackOff');
  expect(asked).toMatchObject([
    { namespace: 'n', labelSelector: 'app=web,tier in (a,b),!old', limit: 20 },
  ]);
});

test('a workload that cannot make pods says so itself', async () => {
  const message = 'pods "web-" is forbidden: exceeded quota: small';
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
  const { reason, asked } = await reasonOf({ conditions: [failure] });
  expect(reason).toBe(`FailedCreate: ${message}`);
  expect(asked).toEqual([]);
});

test('a Pod says so itself', async () => {
  const client = {
    get: async () => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'migrate' },
      status: { containerStatuses: crashing },
    }),
    list: async () => await Promise.reject(new Error('nobody asks for other pods')),
  };
  const object = { resource: podResource, key: { namespace: 'n', name: 'migrate' } };
  const reason = await workloadReason(client, object, new AbortController().signal);
  expect(reason).toBe('container app: CrashLoopBackOff');
});

test('nothing where nobody says why', async () => {
  expect((await reasonOf({}, { phase: 'Running' })).reason).toBeUndefined();
});

function aPod(status: object) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status };
}

function waiting(reason: string, rest: object = {}, message?: string) {
  return { name: 'app', state: { waiting: { reason, message } }, ...rest };
}

const noNode = '0/1 nodes are available: 1 Insufficient memory.';

test.each<[string | undefined, object]>([
  [undefined, {}],
  [undefined, { containerStatuses: [{ name: 'app', state: { running: {} } }] }],
  [undefined, { containerStatuses: [waiting('ContainerCreating')] }],
  [
    `Unschedulable: ${noNode}`,
    {
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: noNode },
      ],
    },
  ],
  [
    'container app: ImagePullBackOff: Back-off pulling image "x"',
    { containerStatuses: [waiting('ImagePullBackOff', {}, 'Back-off pulling image "x"')] },
  ],
  [
    'container app: CrashLoopBackOff, after it ended with exit code 137 (OOMKilled)',
    {
      initContainerStatuses: [
        waiting('CrashLoopBackOff', {
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        }),
      ],
      containerStatuses: [waiting('PodInitializing')],
    },
  ],
])('%s', (reason, status) => {
  expect(podReason(aPod(status))).toBe(reason);
});
