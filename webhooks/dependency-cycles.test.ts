import { expect, test } from 'vitest';
import type { ReviewedDeployment } from './bundle-deployment.ts';
import { dependencyCycleCheck } from './dependency-cycles.ts';

const existing: Readonly<Record<string, readonly string[]>> = { b: ['c'], c: ['a'], d: ['e'] };
const check = dependencyCycleCheck({ dependenciesOf: (name) => existing[name] ?? [] });
const { signal } = new AbortController();

function aDeployment(name: string, dependsOn?: readonly string[]): ReviewedDeployment {
  const dependencies = dependsOn?.map((each) => ({ name: each }));
  return { metadata: { name }, spec: { dependsOn: dependencies } };
}

function fault(deployment: ReviewedDeployment, old?: ReviewedDeployment) {
  return check({ deployment, old, user: { username: 'jane' } }, signal);
}

test('a new deployment that closes a cycle is refused with the cycle', () => {
  expect(fault(aDeployment('a', ['d', 'b']))).toBe(
    'spec.dependsOn makes a cycle: a -> b -> c -> a',
  );
});

test('so is one that depends on itself, and an update that does either', () => {
  expect(fault(aDeployment('x', ['x']))).toBe('spec.dependsOn makes a cycle: x -> x');
  expect(fault(aDeployment('a', ['b']), aDeployment('a'))).toContain('a -> b -> c -> a');
});

test('what the cache knows of the deployment itself is out of date', () => {
  expect(fault(aDeployment('c', ['e']), aDeployment('c', ['a']))).toBeUndefined();
  expect(fault(aDeployment('a', ['c']))).toContain('a -> c -> a');
});

test.each([[undefined], [[]], [['d']], [['missing']]])('dependsOn %j is fine', (dependsOn) => {
  expect(fault(aDeployment('a', dependsOn))).toBeUndefined();
});

test('a cycle that is there does not keep other fields from being changed', () => {
  expect(fault(aDeployment('a', ['b']), aDeployment('a', ['b']))).toBeUndefined();
});
