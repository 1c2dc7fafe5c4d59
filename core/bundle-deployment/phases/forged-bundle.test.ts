import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  unpackedStatus,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment, aTemplate } from '../../../test/helpers/stored-objects.ts';

const other = aTemplate('example.com/evil:v1');
const ownerReferences = aBundleOf().metadata.ownerReferences ?? [];

/** A Bundle with all labels of the deployment's own, and without its ownerReferences. */
function aForged(template = other, metadata: Bundle['metadata'] = {}): Bundle {
  return aBundleOf(template, unpackedStatus, { ownerReferences: [], ...metadata });
}

/** A Bundle with the name of the deployment's own one, and other content. */
function anImpostor(template = v1): Bundle {
  return { ...aForged(template), spec: other.spec };
}

function aFixture(template = v1, status?: BundleDeploymentStatus): BundleDeploymentFixture {
  const deployment = aStoredDeployment({ template });
  return new BundleDeploymentFixture(status === undefined ? deployment : { ...deployment, status });
}

describe('a Bundle that has the labels of a deployment’s own and is not', () => {
  test.each([
    ['of nobody', []],
    ['of a namesake', ownerReferences.map((owner) => ({ ...owner, uid: 'another' }))],
    ['of somebody else', ownerReferences.map((owner) => ({ ...owner, controller: false }))],
  ])('is never deleted: %s', async (_, references) => {
    const fixture = aFixture();
    fixture.have(aForged(other, { ownerReferences: references }));
    await fixture.reconcile();
    fixture.have(aBundleOf());
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf());
    fixture.changeSpec({ template: v2 });
    await fixture.reconcile();
    fixture.have(aBundleOf(v2));
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    expect(new Set(fixture.bundleNames)).toEqual(new Set([nameOf(other), nameOf(v2)]));
  });

  test('is not what an active Bundle of that name was', async () => {
    const fixture = aFixture(v2, { activeBundle: nameOf(v1) });
    fixture.have(anImpostor(v1), aBundleOf(v2, { phase: 'Pending' }));
    await fixture.reconcile();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('is not gone back to', async () => {
    const rollback = { from: nameOf(v2), to: nameOf(v1), reason: 'unhealthy', at: '' };
    const deployment = aStoredDeployment({ template: v2, status: { rollback } });
    const spec = { ...deployment.spec, rollback: { deadline: '1m' } };
    const fixture = new BundleDeploymentFixture({ ...deployment, spec });
    fixture.have(anImpostor(v1), aBundleOf(v2));
    await fixture.reconcile();
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test('is in the way where it has the name of the template’s', async () => {
    const fixture = aFixture();
    fixture.have(anImpostor(v1));
    expect(await fixture.failure()).toMatchObject({
      message: expect.stringContaining('exists and was not made for this template') as string,
    });
    expect(fixture.applier.apply).not.toHaveBeenCalled();
    // Its deletion may send no event, because it may have no labels at all.
    expect(fixture.wakeAfter).toBe(60_000);
  });

  test('is reported with its field manager', async () => {
    const fixture = aFixture();
    const managedFields = [
      { manager: 'later', time: '2026-02-01T00:00:00Z' },
      { manager: 'kubectl-create', time: '2026-01-01T00:00:00Z' },
    ];
    const owner = { ...ownerReferences[0], name: 'other', uid: 'u-2' };
    const metadata = { managedFields, ownerReferences: [owner] } as unknown as Bundle['metadata'];
    const forged = aForged(v1, {
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    });
    fixture.have({ ...forged, spec: other.spec });
    expect(await fixture.failure()).toMatchObject({
      message: `Bundle "${nameOf(v1)}" exists and was not made for this template (made 2026-01-01T00:00:00Z, by "kubectl-create", owner BundleDeployment "other" with UID u-2): delete it, or give the BundleDeployment another name`,
    });
  });

  test('does not say that the deployment’s objects are to stay', async () => {
    const metadata = {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['core.rukpak.io/delete-objects'],
    };
    const status = { activeBundle: nameOf(v1) };
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ metadata, status }));
    fixture.have(aBundleOf(), aForged(v3));
    await fixture.reconcile();
    expect(fixture.applier.remove.mock.calls[0]?.[0]).toMatchObject({ policy: 'Delete' });
  });
});

describe('the template’s own Bundle that has lost its owner', () => {
  function referencesOf(fixture: BundleDeploymentFixture): unknown {
    return fixture.client.peek({ name: nameOf() })?.metadata.ownerReferences;
  }

  test('is owned again, by one request, and goes with the next version', async () => {
    const fixture = aFixture();
    const someone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
    fixture.have(aForged(v1, { ownerReferences: [someone] }));
    await fixture.reconcile();
    await fixture.reconcile();
    expect(referencesOf(fixture)).toEqual([someone, ...ownerReferences]);
    const changes = fixture.client.patches.filter(
      ({ options }) => options.subresource !== 'status',
    );
    expect(changes).toHaveLength(1);
    // After an orphaning deletion this is what tells that the older Bundle was the deployment's.
    const noted = fixture.client.peek({ name: nameOf() })?.metadata.annotations;
    expect(noted).toEqual({ 'core.rukpak.io/adopted-by': 'uid-of-demo' });
    expect(fixture.status.activeBundle).toBe(nameOf());
    fixture.changeSpec({ template: v2 });
    fixture.have(aBundleOf(v2));
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v2)]);
  });

  test.each<[string, object]>([
    ['is being deleted, and may leave it', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['has become another one', { uid: 'another' }],
  ])(
    'stays as it is where the deployment %s, which the cache does not know yet',
    async (_, now) => {
      const fixture = aFixture();
      fixture.have(aForged(v1));
      const { live } = fixture;
      fixture.client.drop({ name: 'demo' });
      fixture.client.put({ ...live, metadata: { ...live.metadata, ...now } });
      await fixture.failure();
      expect(referencesOf(fixture)).toEqual([]);
    },
  );

  test('is owned again with the earlier ones that the status names', async () => {
    const history = [nameOf(v2), nameOf(v1)].map((bundle, at) => ({ revision: 2 - at, bundle }));
    const fixture = aFixture(v2, { activeBundle: nameOf(v2), history } as BundleDeploymentStatus);
    fixture.changeSpec({ revisionHistoryLimit: 3 });
    fixture.have(aForged(v1), aForged(v2), aForged(v3));
    await fixture.reconcile();
    expect(referencesOf(fixture)).toEqual(ownerReferences);
    const forged = fixture.client.peek({ name: nameOf(v3) });
    expect(forged?.metadata.ownerReferences).toEqual([]);
  });

  test('is taken over from an earlier deployment of the name, before the garbage collector deletes it', async () => {
    const fixture = aFixture();
    const former = ownerReferences.map((owner) => ({ ...owner, uid: 'former' }));
    fixture.have(aForged(v1, { ownerReferences: former }));
    await fixture.reconcile();
    expect(referencesOf(fixture)).toEqual(ownerReferences);
    fixture.change({
      ...fixture.live,
      metadata: { ...fixture.live.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' },
    });
    await fixture.reconcile();
    expect(fixture.applier.remove.mock.calls[0]?.[0]).toMatchObject({ policy: 'Delete' });
  });

  test.each([
    ['of another name', { name: 'another' }],
    ['of another kind', { kind: 'ConfigMap' }],
    ['of another API', { apiVersion: 'example.com/v1alpha1' }],
  ])('is left to a controller %s', async (_, other) => {
    const fixture = aFixture();
    const another = ownerReferences.map((owner) => ({ ...owner, uid: 'another', ...other }));
    fixture.have(aForged(v1, { ownerReferences: another }));
    await fixture.reconcile();
    expect(referencesOf(fixture)).toEqual(another);
  });
});
