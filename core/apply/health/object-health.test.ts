import { expect, test } from 'vitest';
import type { Resource } from '../../platform/kube/index.ts';
import { objectHealth } from './object-health.ts';

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
