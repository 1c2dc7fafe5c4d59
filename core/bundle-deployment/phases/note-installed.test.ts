import { expect, test } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  unpackedStatus,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Applier } from '../../contracts/applier.ts';

const kinds = ['apps/v1', 'gizmos.example.com/v1', 'gizmos.example.com/v1/Gizmo', 'v1'];

function aMade(template: typeof v1): Bundle {
  return aBundleOf(template, unpackedStatus, { uid: nameOf(template) });
}

interface Served {
  readonly apiVersions?: readonly string[];
  readonly version?: string;
  readonly inputsDigest?: string;
}

function serve(
  fixture: BundleDeploymentFixture,
  { apiVersions = kinds, version = 'v1.36.3', inputsDigest = 'i' }: Served = {},
): void {
  const cluster = { apiVersions, version, systemNamespace: 'rukpak-system' };
  const read = async () => ({ inputs: [], cluster, inputsDigest });
  const text = JSON.stringify([apiVersions, version, inputsDigest]);
  fixture.facts.prepare.mockResolvedValue({ version: text, read });
}

async function anInstalled(): Promise<BundleDeploymentFixture> {
  const fixture = new BundleDeploymentFixture();
  fixture.have(aMade(v1));
  serve(fixture);
  await fixture.reconcile();
  return fixture;
}

function upgrade(fixture: BundleDeploymentFixture): void {
  fixture.have(aMade(v2));
  fixture.changeSpec({ template: v2 });
}

/** Another process, which only knows the status. */
function restarted({ live }: BundleDeploymentFixture): BundleDeploymentFixture {
  const fixture = new BundleDeploymentFixture(live);
  fixture.have(aMade(v1));
  return fixture;
}

async function request(fixture: BundleDeploymentFixture) {
  await fixture.reconcile();
  const request = fixture.applier.apply.mock.lastCall?.[0];
  const { deletionsAsked, changedFacts, askedBefore } = request ?? {};
  return { deletionsAsked, changedFacts, askedBefore };
}

test('what was applied is noted, with the API groups of others', async () => {
  const { status } = await anInstalled();
  expect(status.applied).toMatchObject({
    bundle: nameOf(v1),
    inputs: 'i',
    kubernetes: 'v1.36.3',
    apiGroups: ['gizmos.example.com'],
  });
});

test.each<[Served, string]>([
  [{ apiVersions: ['v1'] }, 'API group gizmos.example.com is not served any more'],
  [{ version: 'v1.37.0' }, 'Kubernetes changed from v1.36.3 to v1.37.0'],
  [
    {},
    'the APIs or proxies of the cluster, or the code of class plain, have changed, or somebody created the objects again after core deleted them',
  ],
])(
  'facts that change ask for no deletion, nor after a restart: %o',
  async (served, changedFacts) => {
    const fixture = restarted(await anInstalled());
    serve(fixture, served);
    expect(await request(fixture)).toEqual({ deletionsAsked: false, changedFacts });
  },
);

test('a template, a config or an input that changes does', async () => {
  const changes: ((fixture: BundleDeploymentFixture) => void)[] = [
    upgrade,
    (fixture) => fixture.changeSpec({ config: { a: 1 } }),
    (fixture) => serve(fixture, { inputsDigest: 'other' }),
  ];
  for (const change of changes) {
    const fixture = await anInstalled();
    change(fixture);
    expect(await request(fixture)).toEqual({});
    expect(await request(fixture)).toMatchObject({ deletionsAsked: false });
  }
});

test('what waits to be deleted was asked for until it is gone', async () => {
  const fixture = await anInstalled();
  const blocked = { reason: 'PruneHeld', message: 'not deleted' };
  const result = { changes: 1, complete: true, blocked };
  fixture.applier.apply.mockResolvedValue({ ...result, askedDeletions: ['a', 'b'] });
  upgrade(fixture);
  expect(await request(fixture)).toEqual({});
  expect(await request(fixture)).toMatchObject({ askedBefore: ['a', 'b'] });
  fixture.applier.apply.mockResolvedValue({ ...result, askedDeletions: ['b'] });
  expect(await request(fixture)).toMatchObject({ askedBefore: ['a', 'b'] });
  expect(await request(fixture)).toMatchObject({ askedBefore: ['b'] });
  expect(fixture.status.applied?.bundle).toBe(nameOf(v1));
  fixture.applier.apply.mockResolvedValue({ changes: 1, complete: true });
  await fixture.reconcile();
  expect(fixture.status.applied?.bundle).toBe(nameOf(v2));
  expect(fixture.status).not.toHaveProperty('waitingDeletions');
});

test('beside it, facts that change ask for no other deletion, nor after a restart', async () => {
  const first = await anInstalled();
  const blocked = { reason: 'PruneHeld', message: 'not deleted' };
  const result = { changes: 0, complete: true, blocked, askedDeletions: ['a'] };
  first.applier.apply.mockResolvedValue(result);
  upgrade(first);
  await first.reconcile();
  const fixture = restarted(first);
  fixture.have(aMade(v2));
  fixture.applier.apply.mockResolvedValue(result);
  serve(fixture, { apiVersions: ['v1'] });
  for (let times = 0; times < 2; times += 1) {
    expect(await request(fixture)).toEqual({
      deletionsAsked: false,
      changedFacts: 'API group gizmos.example.com is not served any more',
      askedBefore: ['a'],
    });
  }
  fixture.changeSpec({ config: { a: 1 } });
  expect(await request(fixture)).toEqual({});
});

test('facts ask for no deletion either once nothing that was asked for waits any more', async () => {
  const fixture = await anInstalled();
  const blocked = { reason: 'PruneHeld', message: 'not deleted' };
  const result = { changes: 1, complete: true, blocked };
  fixture.applier.apply.mockResolvedValue({ ...result, askedDeletions: ['a'] });
  upgrade(fixture);
  await fixture.reconcile();
  fixture.applier.apply.mockResolvedValue({ ...result, askedDeletions: [] });
  serve(fixture, { apiVersions: ['v1'] });
  await fixture.reconcile();
  expect(await request(fixture)).toEqual({
    deletionsAsked: false,
    changedFacts: 'API group gizmos.example.com is not served any more',
    askedBefore: [],
  });
});

test('facts ask for no deletion either while the API server refuses one that was asked for', async () => {
  const first = await anInstalled();
  const refuse: Applier['apply'] = async ({ remember }) => {
    remember?.({ askedDeletions: ['a'], groupKinds: ['ConfigMap', 'Gizmo.example.com'] });
    throw new Error('cannot delete ConfigMap "a"');
  };
  first.applier.apply.mockImplementation(refuse);
  upgrade(first);
  await first.failure();
  const fixture = restarted(first);
  fixture.have(aMade(v2));
  fixture.applier.apply.mockImplementation(refuse);
  serve(fixture, { apiVersions: ['v1'] });
  await fixture.failure();
  expect(fixture.applier.apply.mock.lastCall?.[0]).toMatchObject({
    deletionsAsked: false,
    askedBefore: ['a'],
  });
  expect(fixture.status.groupKinds).toEqual(['ConfigMap', 'Gizmo.example.com']);
});

test('an apply that fails before it prunes has asked for nothing yet', async () => {
  const fixture = await anInstalled();
  fixture.applier.apply.mockImplementation(async ({ remember }) => {
    remember?.({ groupKinds: ['ConfigMap'] });
    throw new Error('cannot patch ConfigMap "a"');
  });
  upgrade(fixture);
  await fixture.failure();
  expect(fixture.status).toMatchObject({ groupKinds: ['ConfigMap'] });
  expect(fixture.status).not.toHaveProperty('waitingDeletions');
});

test('while deletions wait, what the cluster serves is read again every minute', async () => {
  const fixture = await anInstalled();
  const heldPrune = { digest: 'd', reason: 'facts', count: 1, objects: [] };
  fixture.applier.apply.mockResolvedValue({ changes: 0, complete: true, heldPrune });
  await fixture.reconcile();
  expect(fixture.facts.renew).toHaveBeenCalledOnce();
  expect(fixture.wakeAfter).toBe(60_000);
});

test('what was installed before that was noted counts as applied', async () => {
  const first = await anInstalled();
  const { applied: _, ...status } = first.status;
  const fixture = restarted(first);
  fixture.change({ ...first.live, status });
  serve(fixture);
  expect(await request(fixture)).toMatchObject({ deletionsAsked: false });
  const lost = new BundleDeploymentFixture(aStoredDeployment());
  lost.have(aMade(v1));
  serve(lost);
  expect(await request(lost)).toEqual({});
});

test('to go back from what was begun and never completed is asked for', async () => {
  const fixture = await anInstalled();
  upgrade(fixture);
  fixture.applier.apply.mockRejectedValueOnce(new Error('no answer'));
  await fixture.failure();
  fixture.changeSpec({ template: v1 });
  expect(await request(fixture)).toEqual({});
  serve(fixture, { apiVersions: ['v1'] });
  fixture.changeSpec({ paused: false });
  expect(await request(fixture)).toMatchObject({ deletionsAsked: false });
});

test('nor is it forgotten by a process that dies amid the apply', async () => {
  const first = await anInstalled();
  upgrade(first);
  const atFirstObject = Promise.withResolvers<BundleDeploymentFixture>();
  first.applier.apply.mockImplementationOnce(async () => {
    atFirstObject.resolve(restarted(first));
    throw new Error('no answer');
  });
  await first.failure();
  const fixture = await atFirstObject.promise;
  serve(fixture);
  fixture.changeSpec({ template: v1 });
  expect(await request(fixture)).toEqual({});
});

test('the deletions of content that is no longer wanted are forgotten', async () => {
  const fixture = await anInstalled();
  const blocked = { reason: 'PruneHeld', message: 'not deleted' };
  fixture.applier.apply.mockResolvedValue({
    changes: 1,
    complete: true,
    blocked,
    askedDeletions: ['a'],
  });
  upgrade(fixture);
  await fixture.reconcile();
  // On the way back core creates objects again that the second version lacks.
  fixture.have(aMade(v1));
  fixture.changeSpec({ template: v1 });
  fixture.applier.apply.mockResolvedValue({ changes: 1, complete: false, blocked });
  await fixture.reconcile();
  upgrade(fixture);
  expect(await request(fixture)).toEqual({});
});
