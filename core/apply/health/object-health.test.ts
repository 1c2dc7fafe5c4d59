import { expect, test } from 'vitest';
import type { Resource } from '../../platform/kube/index.ts';
import { computeStatus, objectHealth } from './object-health.ts';

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const namespaces: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
const apiServices: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
};

function problem(resource: Resource, object: object | undefined): string | undefined {
  const key = resource.namespaced ? { namespace: 'demo2', name: 'd' } : { name: 'd' };
  const live = object && {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: {},
    ...object,
  };
  return objectHealth({ resource, key, object: live }, 0).problem;
}

test('an unhealthy object is named with group, version, kind and place', () => {
  const status = { replicas: 1, updatedReplicas: 1 };
  expect(problem(deployments, { status })).toBe(
    '(apps/v1, Kind=Deployment)(demo2/d): object InProgress: Available: 0/1',
  );
});

test('the core group has an empty name, cluster objects have no namespace', () => {
  const metadata = { deletionTimestamp: 'x' };
  expect(problem(namespaces, { apiVersion: 'v1', metadata })).toBe(
    '(/v1, Kind=Namespace)(d): object Terminating: Resource scheduled for deletion',
  );
});

test("a missing object has the API server's own text", () => {
  expect(problem(namespaces, undefined)).toBe('(/v1, Kind=Namespace)(d): namespaces "d" not found');
  expect(problem(deployments, undefined)).toBe(
    '(apps/v1, Kind=Deployment)(demo2/d): deployments.apps "d" not found',
  );
});

test('a healthy object has no line', () => {
  expect(problem(namespaces, { apiVersion: 'v1' })).toBeUndefined();
});

test.each([
  [[], 'Available condition not found'],
  [[{ type: 'Available', status: 'False', message: 'no endpoints' }], 'no endpoints'],
])('an APIService is judged by its condition: %j', (conditions, text) => {
  expect(problem(apiServices, { status: { conditions } })).toBe(
    `(apiregistration.k8s.io/v1, Kind=APIService)(d): ${text}`,
  );
});

test('an available APIService is healthy', () => {
  const conditions = [{ type: 'Available', status: 'True' }];
  expect(problem(apiServices, { status: { conditions } })).toBeUndefined();
});

const now = Date.parse('2026-01-01T00:01:00Z');

interface Parts {
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly metadata?: object;
}

function judge(kind: string, apiVersion: string, { spec, status, metadata }: Parts): string {
  const object = { apiVersion, kind, metadata: { name: 'x', ...metadata }, spec, status };
  const { status: outcome, message } = computeStatus(object, now);
  return outcome === 'Current' ? outcome : `${outcome}: ${message}`;
}

function condition(type: string, status: string, more: object = {}): object {
  return { type, status, ...more };
}

const anyKind = (parts: Parts) => judge('Widget', 'example.com/v1', parts);

test.each([
  ['Current', {}],
  ['Current', { status: 'text' }],
  ['Current', { status: { conditions: 'text' } }],
  ['Current', { status: { conditions: [null, 'x', condition('Ready', 'True')] } }],
  [
    'InProgress: not yet',
    { status: { conditions: [condition('Ready', 'False', { message: 'not yet' })] } },
  ],
  ['InProgress: ', { status: { conditions: [condition('Ready', 'Unknown')] } }],
  [
    'Terminating: Resource scheduled for deletion',
    {
      metadata: { deletionTimestamp: 'x' },
      status: { conditions: [condition('Stalled', 'True')] },
    },
  ],
  [
    'InProgress: Widget generation is 2, but latest observed generation is 1',
    {
      metadata: { generation: 2 },
      status: { observedGeneration: 1, conditions: [condition('Stalled', 'True')] },
    },
  ],
  ['Current', { metadata: { generation: 2 }, status: { observedGeneration: 2 } }],
  [
    'InProgress: busy',
    {
      status: {
        conditions: [
          condition('Reconciling', 'True', { message: 'busy' }),
          condition('Stalled', 'True'),
        ],
      },
    },
  ],
  [
    'Failed: stuck',
    { status: { conditions: [condition('Stalled', 'True', { message: 'stuck' })] } },
  ],
  [
    'Current',
    { status: { conditions: [condition('Stalled', 'False'), condition('Reconciling', 'False')] } },
  ],
])('any kind: %s', (outcome, parts) => {
  expect(anyKind(parts)).toBe(outcome);
});

const rolledOut = [
  condition('Progressing', 'True', { reason: 'NewReplicaSetAvailable' }),
  condition('Available', 'True'),
];
const allReady = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 };
const limited = { replicas: 2, progressDeadlineSeconds: 600 };

test.each([
  ['Current', limited, { ...allReady, conditions: rolledOut }],
  ['InProgress: Replicas: 0/1', {}, {}],
  ['InProgress: Replicas: 1/2', limited, { ...allReady, replicas: 1 }],
  ['InProgress: Updated: 1/2', limited, { ...allReady, updatedReplicas: 1 }],
  ['InProgress: Pending termination: 1', limited, { ...allReady, replicas: 3 }],
  ['InProgress: Available: 1/2', limited, { ...allReady, availableReplicas: 1 }],
  ['InProgress: Ready: 1/2', limited, { ...allReady, readyReplicas: 1 }],
  ['InProgress: ReplicaSet not Available', limited, { ...allReady, conditions: [rolledOut[1]] }],
  [
    'InProgress: ReplicaSet not Available',
    limited,
    {
      ...allReady,
      conditions: [condition('Progressing', 'True', { reason: 'ReplicaSetUpdated' })],
    },
  ],
  ['InProgress: Deployment not Available', limited, { ...allReady, conditions: [rolledOut[0]] }],
  [
    'Failed: Progress deadline exceeded',
    limited,
    { conditions: [condition('Progressing', 'False', { reason: 'ProgressDeadlineExceeded' })] },
  ],
  ['Current', { replicas: 2 }, { ...allReady, conditions: [rolledOut[1]] }],
  [
    'Current',
    { replicas: 2, progressDeadlineSeconds: 2147483647 },
    { ...allReady, conditions: [rolledOut[1]] },
  ],
  ['Current', { replicas: 0 }, { conditions: rolledOut }],
])('Deployment: %s', (outcome, spec, status) => {
  expect(judge('Deployment', 'apps/v1', { spec, status })).toBe(outcome);
});

const setReady = {
  replicas: 2,
  readyReplicas: 2,
  currentReplicas: 2,
  updatedReplicas: 2,
  currentRevision: 'a',
  updateRevision: 'a',
};
const partition = (value: number) => ({
  replicas: 2,
  updateStrategy: { rollingUpdate: { partition: value } },
});

test.each([
  ['Current', { replicas: 2 }, setReady],
  ['Current', { replicas: 2, updateStrategy: { type: 'OnDelete' } }, {}],
  ['InProgress: Replicas: 1/2', { replicas: 2 }, { ...setReady, replicas: 1 }],
  ['InProgress: Ready: 1/2', { replicas: 2 }, { ...setReady, readyReplicas: 1 }],
  ['InProgress: Pending termination: 1', { replicas: 1 }, setReady],
  ['InProgress: updated: 0/1', partition(1), { ...setReady, updatedReplicas: 0 }],
  ['Current', partition(1), { ...setReady, updatedReplicas: 1, currentRevision: 'b' }],
  ['InProgress: current: 1/2', { replicas: 2 }, { ...setReady, currentReplicas: 1 }],
  [
    'InProgress: Waiting for updated revision to match current',
    { replicas: 2 },
    { ...setReady, updateRevision: 'b' },
  ],
])('StatefulSet: %s', (outcome, spec, status) => {
  expect(judge('StatefulSet', 'apps/v1', { spec, status })).toBe(outcome);
});

const daemons = {
  observedGeneration: 1,
  desiredNumberScheduled: 2,
  currentNumberScheduled: 2,
  updatedNumberScheduled: 2,
  numberAvailable: 2,
  numberReady: 2,
};

test.each([
  ['Current', daemons],
  ['InProgress: DaemonSet status.observedGeneration not found', {}],
  ['InProgress: Missing .status.desiredNumberScheduled', { observedGeneration: 1 }],
  ['InProgress: Current: 1/2', { ...daemons, currentNumberScheduled: 1 }],
  ['InProgress: Updated: 1/2', { ...daemons, updatedNumberScheduled: 1 }],
  ['InProgress: Available: 1/2', { ...daemons, numberAvailable: 1 }],
  ['InProgress: Ready: 1/2', { ...daemons, numberReady: 1 }],
])('DaemonSet: %s', (outcome, status) => {
  expect(judge('DaemonSet', 'apps/v1', { status, metadata: { generation: 1 } })).toBe(outcome);
});

test('a DaemonSet without a generation is in progress', () => {
  expect(judge('DaemonSet', 'apps/v1', { status: daemons })).toBe(
    'InProgress: DaemonSet metadata.generation not found',
  );
});

const replicas = { replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 1, readyReplicas: 1 };

test.each([
  ['Current', replicas],
  [
    'InProgress: Replica Failure condition. Check Pods',
    { ...replicas, conditions: [condition('ReplicaFailure', 'True')] },
  ],
  ['InProgress: Labelled: 0/1', { ...replicas, fullyLabeledReplicas: 0 }],
  ['InProgress: Available: 0/1', { ...replicas, availableReplicas: 0 }],
  ['InProgress: Ready: 0/1', { ...replicas, readyReplicas: 0 }],
  ['InProgress: Pending termination: 2', { ...replicas, replicas: 3 }],
])('ReplicaSet: %s', (outcome, status) => {
  expect(judge('ReplicaSet', 'apps/v1', { status })).toBe(outcome);
});

const crashing = [
  { name: 'a', state: { waiting: { reason: 'CrashLoopBackOff' } } },
  { name: 'b', state: { running: {} } },
  { name: 'c', state: { waiting: { reason: 'CrashLoopBackOff' } } },
];

function unschedulable(since: string): object {
  const more = { reason: 'Unschedulable', lastTransitionTime: since };
  return { phase: 'Pending', conditions: [condition('PodScheduled', 'False', more)] };
}

test.each([
  ['Current', { phase: 'Succeeded' }],
  ['Current', { phase: 'Failed' }],
  ['Current', { phase: 'Running', conditions: [condition('Ready', 'True')] }],
  ['InProgress: Pod is running but is not Ready', { phase: 'Running' }],
  ['Failed: Containers in CrashLoop state: a,c', { phase: 'Running', containerStatuses: crashing }],
  ['InProgress: Pod is in the Pending phase', { phase: 'Pending' }],
  ['InProgress: Pod has not been scheduled', unschedulable('2026-01-01T00:00:46Z')],
  ['Failed: Pod could not be scheduled', unschedulable('2026-01-01T00:00:44Z')],
  ['Failed: Pod could not be scheduled', unschedulable('nonsense')],
  ['InProgress: Pod phase not available', {}],
  ['InProgress: unknown Pod phase Odd', { phase: 'Odd' }],
])('Pod: %s', (outcome, status) => {
  expect(judge('Pod', 'v1', { status })).toBe(outcome);
});

test('an unschedulable Pod is to be looked at again when its time is over', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    status: unschedulable('2026-01-01T00:00:50Z'),
  };
  expect(computeStatus(object, now).recheckAfter).toBe(5000);
});

test.each([
  ['InProgress: Job not started', {}],
  ['Current', { startTime: 'x' }],
  ['Current', { startTime: 'x', conditions: [condition('Complete', 'True')] }],
  [
    'Failed: Job Failed. failed: 4/3',
    { startTime: 'x', failed: 4, conditions: [condition('Failed', 'True')] },
  ],
])('Job: %s', (outcome, status) => {
  expect(judge('Job', 'batch/v1', { spec: { completions: 3 }, status })).toBe(outcome);
});

test('a Job without completions has as many as it runs at once', () => {
  const status = { conditions: [condition('Failed', 'True')] };
  expect(judge('Job', 'batch/v1', { spec: { parallelism: 5 }, status })).toBe(
    'Failed: Job Failed. failed: 0/5',
  );
});

test.each([
  ['PersistentVolumeClaim', 'Current', { status: { phase: 'Bound' } }],
  [
    'PersistentVolumeClaim',
    'InProgress: PVC is not Bound. phase: Pending',
    { status: { phase: 'Pending' } },
  ],
  ['PersistentVolumeClaim', 'InProgress: PVC is not Bound. phase: unknown', {}],
  ['Service', 'Current', { spec: { type: 'ClusterIP' } }],
  ['Service', 'Current', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } }],
  [
    'Service',
    'InProgress: ClusterIP not set. Service type: LoadBalancer',
    { spec: { type: 'LoadBalancer' } },
  ],
])('%s: %s', (kind, outcome, parts) => {
  expect(judge(kind, 'v1', parts)).toBe(outcome);
});

test.each([
  ['ConfigMap', 'v1'],
  ['Secret', 'v1'],
  ['CronJob', 'batch/v1'],
  ['PodDisruptionBudget', 'policy/v1'],
])('%s is always current', (kind, apiVersion) => {
  const status = { conditions: [condition('Ready', 'False')] };
  expect(judge(kind, apiVersion, { status })).toBe('Current');
});

test('the group counts, not the kind alone', () => {
  expect(judge('Deployment', 'example.com/v1', { status: {} })).toBe('Current');
});

test.each([
  ['InProgress: Install in progress', []],
  ['Current', [condition('NamesAccepted', 'True'), condition('Established', 'True')]],
  [
    'Failed: taken',
    [condition('NamesAccepted', 'False', { message: 'taken' }), condition('Established', 'False')],
  ],
  ['Failed: broken', [condition('Established', 'False', { reason: 'Broken', message: 'broken' })]],
  [
    'InProgress: Install in progress',
    [condition('Established', 'False', { reason: 'Installing' })],
  ],
])('CustomResourceDefinition: %s', (outcome, conditions) => {
  const status = { conditions };
  expect(judge('CustomResourceDefinition', 'apiextensions.k8s.io/v1', { status })).toBe(outcome);
});
