import { expect, test } from 'vitest';
import { awaitedController } from './health-report.ts';

function anObject(kind: string, status?: object, apiVersion = 'apps/v1') {
  return { apiVersion, kind, metadata: { generation: 2 }, ...(status && { status }) };
}

test.each([
  ['Deployment', undefined],
  ['StatefulSet', {}],
  ['DaemonSet', { observedGeneration: 1 }],
])('a %s with status %o waits for its controller', (kind, status) => {
  expect(awaitedController(anObject(kind, status))).toBe(
    `waiting for the ${kind} controller of Kubernetes to observe generation 2`,
  );
});

test('nothing is awaited of what was seen, of other kinds, and of what is not there', () => {
  expect(awaitedController(anObject('Deployment', { observedGeneration: 2 }))).toBeUndefined();
  expect(awaitedController(anObject('Deployment', {}, 'example.com/v1'))).toBeUndefined();
  expect(awaitedController(anObject('ConfigMap', {}, 'v1'))).toBeUndefined();
  expect(awaitedController(undefined)).toBeUndefined();
});
