import { describe, expect, test, vi } from 'vitest';
import type { HealthRule } from '../../api/v1alpha1/deployment-policies.ts';
import type { AdmissionRequest } from '../review.ts';
import {
  bundleDeploymentValidator,
  type DeploymentCheck,
  dependencyCycleCheck,
  healthRulesCheck,
  type ReviewedDeployment,
} from './bundle-deployment.ts';

const { signal } = new AbortController();
const user = { username: 'jane' };
const check = vi.fn<DeploymentCheck>(() => 'not like this');
const order = vi.fn<DeploymentCheck>(() => 'not by you');
const validate = bundleDeploymentValidator({ spec: [() => undefined, check], orders: [order] });

function aDeployment(spec: object, metadata: object = { name: 'd' }): object {
  return { metadata, spec: { provisionerClassName: 'c', ...spec } };
}

async function judge(request: Partial<AdmissionRequest>) {
  check.mockClear();
  order.mockClear();
  return await validate({ uid: '1', operation: 'CREATE', userInfo: user, ...request }, signal);
}

test('the first check with a sentence refuses, and knows user, old and new', async () => {
  const object = aDeployment({ dependsOn: [{ name: 'b' }] });
  const oldObject = aDeployment({});
  expect(await judge({ object })).toEqual({
    allowed: false,
    status: { code: 403, reason: 'not like this' },
  });
  expect(check).toHaveBeenCalledWith(
    expect.objectContaining({ deployment: object, old: undefined, user }),
    signal,
  );
  expect(await judge({ operation: 'UPDATE', object, oldObject })).toMatchObject({ allowed: false });
  expect(check).toHaveBeenCalledWith(expect.objectContaining({ old: oldObject }), signal);
});

test('changes of metadata and status are nobody’s business, nor is a deletion', async () => {
  const oldObject = aDeployment({ config: { a: 1 } });
  const object = aDeployment({ config: { a: 1 } }, { name: 'd', finalizers: [] });
  const status = { subResource: 'status', object: aDeployment({}), oldObject };
  for (const request of [{ object, oldObject }, status]) {
    expect(await judge({ operation: 'UPDATE', ...request })).toEqual({ allowed: true });
  }
  expect(await judge({ operation: 'DELETE', oldObject })).toEqual({ allowed: true });
  expect(check).not.toHaveBeenCalled();
});

test.each(['adopt', 'hand-over', 'skip-hooks', 'approve', 'confirm-prune', 'install-namespace'])(
  'what annotation core.rukpak.io/%s asks for is asked about, and nothing else of it',
  async (name) => {
    const oldObject = aDeployment({});
    const annotations = { [`core.rukpak.io/${name}`]: 'x' };
    const object = aDeployment({}, { name: 'd', annotations });
    for (const change of [
      { object, oldObject },
      { object: oldObject, oldObject: object },
    ]) {
      expect(await judge({ operation: 'UPDATE', ...change })).toMatchObject({
        status: { reason: 'not by you' },
      });
    }
    expect(check).not.toHaveBeenCalled();
  },
);

test('annotations of others, and who has changed it, ask core for nothing', async () => {
  const annotations = { 'core.rukpak.io/changed-by': 'x', 'example.com/a': 'x' };
  const object = aDeployment({}, { name: 'd', annotations });
  const change = { object, oldObject: aDeployment({}) };
  expect(await judge({ operation: 'UPDATE', ...change })).toEqual({ allowed: true });
  expect(order).not.toHaveBeenCalled();
});

test('a change anywhere in the spec is looked at', async () => {
  const request = { object: aDeployment({ config: { a: 2 } }), oldObject: aDeployment({}) };
  expect(await judge({ operation: 'UPDATE', ...request })).toMatchObject({ allowed: false });
});

test('what cannot be read is refused with the path', async () => {
  const object = aDeployment({ serviceAccount: { name: 'x', namespace: 'a:b' } });
  expect(await judge({ object })).toMatchObject({
    allowed: false,
    status: {
      code: 400,
      message: expect.stringContaining(
        'failed to decode BundleDeployment: request.object.spec.serviceAccount.namespace',
      ),
    },
  });
});

describe('a stored field that breaks a rule of today', () => {
  const stored = { serviceAccount: { name: 'x', namespace: 'a:b' } };
  const oldObject = aDeployment(stored, { name: 'd', finalizers: ['a'] });
  const update = { operation: 'UPDATE', oldObject } as const;

  test('keeps nobody from taking off a finalizer', async () => {
    const object = aDeployment(stored, { name: 'd', finalizers: [] });
    expect(await judge({ ...update, object })).toEqual({ allowed: true });
  });

  test.each([
    ['other fields are changed', { ...stored, paused: true }],
    ['it is mended', { serviceAccount: { name: 'x', namespace: 'a' } }],
    ['it is taken off', {}],
  ])('is judged by the checks alone where %s', async (_, spec) => {
    const object = aDeployment(spec);
    expect(await judge({ ...update, object })).toMatchObject({
      status: { reason: 'not like this' },
    });
    const before = { spec: expect.objectContaining(stored) };
    const change = expect.objectContaining({ deployment: object });
    expect(check).toHaveBeenCalledWith(change, signal);
    expect(check.mock.calls[0]?.[0].old).toMatchObject(before);
  });

  test('is refused where it breaks the rule in another way', async () => {
    const object = aDeployment({ serviceAccount: { name: 'x', namespace: 'a:c' } });
    expect(await judge({ ...update, object })).toMatchObject({ status: { code: 400 } });
  });
});

describe('dependencies', () => {
  const existing: Readonly<Record<string, readonly string[]>> = { b: ['c'], c: ['a'], d: ['e'] };
  const check = dependencyCycleCheck({ dependenciesOf: (name) => existing[name] ?? [] });

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

  test('the cached state of the deployment itself does not count', () => {
    expect(fault(aDeployment('c', ['e']), aDeployment('c', ['a']))).toBeUndefined();
    expect(fault(aDeployment('a', ['c']))).toContain('a -> c -> a');
  });

  test.each([[undefined], [[]], [['d']], [['missing']]])('dependsOn %j is fine', (dependsOn) => {
    expect(fault(aDeployment('a', dependsOn))).toBeUndefined();
  });

  test('a cycle that is there does not keep other fields from being changed', () => {
    expect(fault(aDeployment('a', ['b']), aDeployment('a', ['b']))).toBeUndefined();
  });
});

describe('health rules', () => {
  const check = healthRulesCheck(({ healthy }, index) =>
    healthy === 'bad' ? `spec.health.rules[${index}] is bad` : undefined,
  );

  function aDeployment(...rules: readonly HealthRule[]): ReviewedDeployment {
    return { metadata: { name: 'd' }, spec: { health: { rules: [...rules] } } };
  }

  const good = { kind: 'Pod', healthy: 'true' };
  const bad = { kind: 'Pod', healthy: 'bad' };

  interface Row {
    readonly what: string;
    readonly deployment: ReviewedDeployment;
    readonly old?: ReviewedDeployment;
    readonly refusal?: string;
  }

  test.each<Row>([
    { what: 'rules that can be used', deployment: aDeployment(good) },
    {
      what: 'the first that cannot',
      deployment: aDeployment(good, bad),
      old: aDeployment(good),
      refusal: 'spec.health.rules[1] is bad',
    },
    { what: 'one that is stored already', deployment: aDeployment(bad), old: aDeployment(bad) },
    { what: 'no rules at all', deployment: { metadata: {}, spec: {} } },
  ])('of $what', ({ deployment, old, refusal }) => {
    expect(check({ deployment, old, user: { username: 'jane' } }, signal)).toBe(refusal);
  });
});
