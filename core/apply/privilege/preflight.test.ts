import { beforeEach, describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import {
  ApiError,
  configMapResource,
  type ObjectKey,
  type Resource,
  secretResource,
} from '../../platform/kube/index.ts';
import type { RawRequest } from '../../platform/kube/kube-client.ts';
import type { PlannedObject } from '../objects/desired.ts';
import { OwnerStates } from '../state/owner-states.ts';
import type { Permission } from './permissions.ts';
import { Preflight, type PreflightRequest } from './preflight.ts';

const { signal } = new AbortController();
const account = { namespace: 'team-a', name: 'deployer' };
const clusterRole: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

let reviews: Permission[] = [];
let allows: (permission: Permission) => boolean = () => true;
let answer: () => void = () => undefined;
let accounts: string[] = [];

beforeEach(() => {
  reviews = [];
  accounts = ['team-a/deployer'];
  allows = () => true;
  answer = () => undefined;
});

const own = {
  async get(_: Resource, { namespace, name }: ObjectKey) {
    if (!accounts.includes(`${namespace}/${name}`)) throw new ApiError(404, { code: 404 });
    return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  },
};

const client = {
  async request({ body }: RawRequest) {
    answer();
    const { spec } = body as { spec: { resourceAttributes: Permission } };
    reviews.push(spec.resourceAttributes);
    return { status: { allowed: allows(spec.resourceAttributes) } };
  },
};

function owner(spec: Partial<BundleDeployment['spec']> = {}, generation = 1): BundleDeployment {
  const deployment = aStoredDeployment();
  return {
    ...deployment,
    metadata: { ...deployment.metadata, name: 'shop', generation },
    spec: { ...deployment.spec, serviceAccount: account, ...spec },
  };
}

function planned(resource: Resource, name: string, live = false): PlannedObject {
  const key = resource.namespaced ? { namespace: 'shop', name } : { name };
  const object = { apiVersion: 'v1', kind: resource.kind, metadata: key };
  const desired = { id: name, resource, key, object, digest: '' };
  return { desired, live: live ? object : undefined, repair: false };
}

function aRequest(request: Partial<PreflightRequest> = {}): PreflightRequest {
  return { owner: owner(), client, signal, pending: [], superfluous: [], ...request };
}

function asked(): string[] {
  return reviews.map(
    ({ verb, group, resource, namespace = '', name = '' }) =>
      `${verb} ${[group, resource, namespace, name].join('/')}`,
  );
}

describe('the reviews', () => {
  test('nothing for a deployment without an account', async () => {
    const { serviceAccount: _, ...spec } = owner().spec;
    const request = aRequest({
      owner: { ...owner(), spec },
      pending: [planned(configMapResource, 'a')],
    });
    await new Preflight(own, new OwnerStates(new ManualClock())).run(request);
    expect(reviews).toEqual([]);
  });

  test('nothing where nothing is to be written', async () => {
    await new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest());
    expect(reviews).toEqual([]);
  });

  test('ask about each verb, kind and namespace once, for any number of objects', async () => {
    const pending = ['a', 'b', 'c'].map((name) => planned(configMapResource, name));
    await new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending }));
    expect(asked().toSorted()).toEqual([
      'create /configmaps/shop/',
      'delete /configmaps/shop/',
      'get /configmaps/shop/',
      'list /configmaps/shop/',
      'patch /configmaps/shop/',
      'watch /configmaps/shop/',
    ]);
  });

  test('no creation of what is there, and the deletion of what is not wanted any more', async () => {
    const pending = [planned(clusterRole, 'a', true)];
    const gone = { resource: secretResource, key: { namespace: 'shop', name: 's' } };
    await new Preflight(own, new OwnerStates(new ManualClock())).run(
      aRequest({ pending, superfluous: [gone] }),
    );
    expect(asked().toSorted()).toEqual([
      'delete /secrets/shop/',
      'get /secrets/shop/',
      'get rbac.authorization.k8s.io/clusterroles//',
      'list /secrets/shop/',
      'list rbac.authorization.k8s.io/clusterroles//',
      'patch rbac.authorization.k8s.io/clusterroles//',
      'watch /secrets/shop/',
      'watch rbac.authorization.k8s.io/clusterroles//',
    ]);
  });

  test('single objects only where all of them are refused', async () => {
    allows = ({ verb, name }) => verb !== 'patch' || name !== undefined;
    const pending = ['a', 'b'].map((name) => planned(configMapResource, name));
    await new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending }));
    expect(asked().filter((text) => text.startsWith('patch'))).toEqual([
      'patch /configmaps/shop/',
      'patch /configmaps/shop/a',
      'patch /configmaps/shop/b',
    ]);
  });
});

describe('what was granted', () => {
  const pending = [planned(configMapResource, 'a')];

  test('is not asked again until the deployment changes, or something fails', async () => {
    const preflight = new Preflight(own, new OwnerStates(new ManualClock()));
    await preflight.run(aRequest({ pending }));
    reviews = [];
    await preflight.run(aRequest({ pending: [planned(configMapResource, 'a', true)] }));
    expect(reviews).toEqual([]);
    await preflight.run(aRequest({ pending, owner: owner({}, 2) }));
    expect(reviews).toHaveLength(6);
    preflight.forget('shop');
    await preflight.run(aRequest({ pending, owner: owner({}, 2) }));
    expect(reviews).toHaveLength(12);
  });

  test('to one account says nothing about another', async () => {
    const preflight = new Preflight(own, new OwnerStates(new ManualClock()));
    accounts.push('team-b/deployer');
    await preflight.run(aRequest({ pending }));
    const other = owner({ serviceAccount: { ...account, namespace: 'team-b' } });
    await preflight.run(aRequest({ pending, owner: other }));
    expect(reviews).toHaveLength(12);
  });
});

test('of what is kept, everything is asked of a new account, and nothing of the same one', async () => {
  const preflight = new Preflight(own, new OwnerStates(new ManualClock()));
  const kept = [{ resource: configMapResource, key: { namespace: 'shop', name: 'a' } }];
  await preflight.run(aRequest({ kept }));
  expect(reviews).toHaveLength(6);
  await preflight.run(aRequest({ kept, owner: owner({}, 2) }));
  expect(reviews).toHaveLength(6);
  accounts.push('team-b/deployer');
  allows = () => false;
  const other = owner({ serviceAccount: { ...account, namespace: 'team-b' } }, 3);
  await expect(preflight.run(aRequest({ kept, owner: other }))).rejects.toThrow(
    'ServiceAccount "deployer" in namespace "team-b" lacks permissions for this',
  );
});

describe('what is missing', () => {
  test('is listed completely, by kind and namespace, with the remedy', async () => {
    allows = ({ verb, resource }) => resource !== 'clusterroles' && verb !== 'create';
    const pending = [
      ...['d', 'c', 'b', 'a'].map((name) => planned(configMapResource, name)),
      planned(clusterRole, 'r'),
    ];
    await expect(
      new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending })),
    ).rejects.toMatchObject({
      name: 'TerminalError',
      reason: 'PermissionsMissing',
      message:
        'ServiceAccount "deployer" in namespace "team-a" lacks permissions for this, ' +
        'nothing was changed: ' +
        'create, delete, get, list, patch, watch clusterroles.rbac.authorization.k8s.io (r); ' +
        'create configmaps in namespace "shop". ' +
        '"rukpakctl permissions shop --missing" prints them as RBAC objects',
    });
  });

  test('names some objects where others are granted', async () => {
    allows = ({ verb, name }) => verb !== 'get' || name === 'a';
    const pending = ['e', 'd', 'c', 'b', 'a'].map((name) => planned(configMapResource, name));
    await expect(
      new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending })),
    ).rejects.toThrow('get configmaps (b, c, d and 1 more) in namespace "shop"');
  });

  test('fits into a status, however much it is', async () => {
    allows = () => false;
    const pending = Array.from({ length: 1000 }, (_, index) => {
      const { desired, ...rest } = planned(configMapResource, 'a');
      const key = { namespace: `namespace-${index}`, name: 'a' };
      return { ...rest, desired: { ...desired, key } };
    });
    const run = new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending }));
    const message = await run.catch(({ message: text }: Error) => text);
    expect(message?.length).toBeLessThan(9_000);
    expect(message).toMatch(/; and \d+ more\. "rukpakctl permissions shop --missing"/);
  });

  test('is the account itself, where it does not exist', async () => {
    accounts = [];
    const pending = [planned(configMapResource, 'a')];
    await expect(
      new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending })),
    ).rejects.toMatchObject({
      reason: 'PermissionsMissing',
      message:
        'ServiceAccount "deployer" in namespace "team-a", which spec.serviceAccount names, does not exist: nothing was changed',
    });
    expect(reviews).toEqual([]);
  });

  test('is our own right to impersonate, in the words of the server', async () => {
    answer = () => {
      throw new ApiError(403, { code: 403, message: 'core cannot impersonate' });
    };
    const pending = [planned(configMapResource, 'a')];
    await expect(
      new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending })),
    ).rejects.toMatchObject({
      reason: 'PermissionsMissing',
      message:
        'cannot act as ServiceAccount "deployer" in namespace "team-a": core cannot impersonate',
    });
  });

  test('is not known where the server does not answer', async () => {
    answer = () => {
      throw new Error('cannot reach the API server');
    };
    const pending = [planned(configMapResource, 'a')];
    const run = new Preflight(own, new OwnerStates(new ManualClock())).run(aRequest({ pending }));
    await expect(run).rejects.not.toHaveProperty('reason');
  });
});
