import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import type { ReviewedDeployment } from './bundle-deployment.ts';
import { impersonationCheck, requiredAccountCheck } from './service-account.ts';

const { signal } = new AbortController();
const jane = { username: 'jane', uid: '7', groups: ['devs'], extra: { scope: ['a'] } };
const deployer = { namespace: 'team-a', name: 'deployer' };
const other = { namespace: 'team-b', name: 'deployer' };

let asked: unknown[] = [];
/** `<namespace>/<name>` of the accounts that may be impersonated. */
let granted: string[] = [];

beforeEach(() => {
  asked = [];
  granted = [];
});

const client = {
  async create(_: unknown, object: KubernetesObject): Promise<KubernetesObject> {
    const spec = object['spec'] as { resourceAttributes: { namespace: string; name: string } };
    asked.push(spec);
    const { namespace, name } = spec.resourceAttributes;
    return { ...object, status: { allowed: granted.includes(`${namespace}/${name}`) } };
  },
};

function aDeployment(serviceAccount?: ServiceAccountRef): ReviewedDeployment {
  return { metadata: { name: 'd' }, spec: serviceAccount === undefined ? {} : { serviceAccount } };
}

interface Change {
  readonly to?: ServiceAccountRef;
  readonly from?: ServiceAccountRef;
}

async function judge({ to, from }: Change, check = impersonationCheck({ client })) {
  const change = { deployment: aDeployment(to), old: aDeployment(from), user: jane };
  return await check(change, signal);
}

test('nobody is asked about deployments without an account', async () => {
  expect(await judge({})).toBeUndefined();
  expect(asked).toEqual([]);
});

test('the API server decides whether the user may impersonate, with all it knows of them', async () => {
  granted = ['team-a/deployer'];
  expect(await judge({ to: deployer, from: deployer })).toBeUndefined();
  expect(asked).toEqual([
    {
      user: 'jane',
      uid: '7',
      groups: ['devs'],
      extra: { scope: ['a'] },
      resourceAttributes: { verb: 'impersonate', resource: 'serviceaccounts', ...deployer },
    },
  ]);
});

test('who may not is told which rule would allow it', async () => {
  expect(await judge({ to: deployer })).toBe(
    'user "jane" may not impersonate ServiceAccount "deployer" in namespace "team-a", which ' +
      'spec.serviceAccount names: that takes a Role in this namespace with the rule ' +
      '{apiGroups: [""], resources: [serviceaccounts], resourceNames: [deployer], verbs: [impersonate]}',
  );
});

test('an account is neither left nor taken over without leave', async () => {
  granted = ['team-b/deployer'];
  expect(await judge({ from: deployer, to: other })).toContain('in namespace "team-a"');
  expect(await judge({ from: deployer })).toContain('in namespace "team-a"');
  granted = ['team-a/deployer'];
  expect(await judge({ from: deployer, to: other })).toContain('in namespace "team-b"');
  expect(await judge({ from: deployer })).toBeUndefined();
});

test('a denial outweighs a permission', async () => {
  const status = { allowed: true, denied: true };
  const denying = {
    create: async (_: unknown, object: KubernetesObject) => ({ ...object, status }),
  };
  const check = impersonationCheck({ client: denying });
  const change = { deployment: aDeployment(deployer), old: undefined, user: jane };
  expect(await check(change, signal)).toContain('may not impersonate');
});

test('an account can be made a must', async () => {
  const judged = async (change: Change) => await judge(change, requiredAccountCheck);
  expect(await judged({})).toMatch(/^spec\.serviceAccount must be set: /);
  expect(await judged({ from: deployer })).toMatch(/^spec\.serviceAccount must be set: /);
  expect(await judged({ to: deployer })).toBeUndefined();
});
