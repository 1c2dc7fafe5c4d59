import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeploymentSpec } from '../../../api/v1alpha1/index.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  objects,
  unpackedStatus,
  v1,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Facts } from '../facts/render-facts.ts';

const held = { reason: 'PruneHeld', message: 'not deleted' };

function aMade(uid = nameOf(v1)): Bundle {
  return aBundleOf(v1, unpackedStatus, { uid, creationTimestamp: '2026-01-01T00:00:00Z' });
}

function give(fixture: BundleDeploymentFixture, facts: Omit<Facts, 'inputs'>): void {
  const read = async (): Promise<Facts> => ({ inputs: [], ...facts });
  fixture.facts.prepare.mockResolvedValue({ version: JSON.stringify(facts), read });
}

/** Deployment `demo` whose Bundle is installed, with input `a`. */
async function anInstalled(
  spec: Partial<BundleDeploymentSpec> = {},
): Promise<BundleDeploymentFixture> {
  const deployment = aStoredDeployment({ template: v1 });
  const waiting = { stages: { waitForReady: true }, ...spec };
  const fixture = new BundleDeploymentFixture({
    ...deployment,
    spec: { ...deployment.spec, ...waiting },
  });
  fixture.have(aMade());
  give(fixture, { inputsDigest: 'a' });
  await settle(fixture);
  expect(await request(fixture)).toEqual(repair);
  return fixture;
}

/** A process that starts with what the one before has written. */
function restarted({ live }: BundleDeploymentFixture): BundleDeploymentFixture {
  const fixture = new BundleDeploymentFixture(live);
  fixture.have(aMade());
  return fixture;
}

const repair = { unchanged: true, waitForReady: false };
const rollOut = { unchanged: false, waitForReady: true };

async function settle(fixture: BundleDeploymentFixture): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    const { requeueAfter } = await fixture.reconcile();
    if (requeueAfter !== 0) return;
  }
  throw new Error('it does not settle');
}

/** The last apply after the reconciles that are due. */
async function request(fixture: BundleDeploymentFixture) {
  await settle(fixture);
  const { unchanged, waitForReady } = fixture.applier.apply.mock.lastCall?.[0] ?? {};
  return { unchanged, waitForReady };
}

describe('new content is rolled out as such, once', () => {
  test.each<[string, (fixture: BundleDeploymentFixture) => void]>([
    ['another input', (fixture) => give(fixture, { inputsDigest: 'b' })],
    [
      'a Bundle created again under its name',
      (fixture) => {
        fixture.client.drop({ name: nameOf(v1) });
        fixture.have(aMade('again'));
      },
    ],
    ['another config', (fixture) => fixture.changeSpec({ config: { a: 2 } })],
  ])('%s, also after a restart', async (_, change) => {
    const first = await anInstalled();
    for (const fixture of [restarted(first), first]) {
      give(fixture, { inputsDigest: 'a' });
      change(fixture);
      expect(await request(fixture)).toEqual(rollOut);
      expect(await request(fixture)).toEqual(repair);
    }
  });

  test('a config whose input was missing at first', async () => {
    const fixture = await anInstalled();
    fixture.facts.prepare.mockRejectedValue(new Error('ConfigMap "values" not found'));
    fixture.changeSpec({ config: { a: 2 } });
    for (let tries = 0; tries < 2; tries += 1) await fixture.failure();
    expect(fixture.applier.apply.mock.lastCall?.[0]).toMatchObject(repair);
    give(fixture, { inputsDigest: 'a' });
    expect(await request(fixture)).toEqual(rollOut);
  });

  test('generated values of another seed that somebody has accepted', async () => {
    const fixture = await anInstalled();
    give(fixture, { inputsDigest: 'a', seedIdentity: 'old' });
    await settle(fixture);
    give(fixture, { inputsDigest: 'b', seedIdentity: 'new' });
    fixture.handler.mockResolvedValueOnce([anObject('ConfigMap', { name: 'generated' })]);
    annotate(fixture, { [annotation.acceptNewSeed]: 'new' });
    expect(await request(fixture)).toEqual(rollOut);
    expect(await request(fixture)).toEqual(repair);
  });

  test('the way back from content that was never completely applied', async () => {
    const first = await anInstalled();
    give(first, { inputsDigest: 'b' });
    const died = Promise.withResolvers<BundleDeploymentFixture>();
    first.applier.apply.mockImplementationOnce(async () => {
      died.resolve(restarted(first));
      throw new Error('no answer');
    });
    await first.failure();
    const fixture = await died.promise;
    give(fixture, { inputsDigest: 'a' });
    expect(await request(fixture)).toEqual(rollOut);
    expect(await request(fixture)).toEqual(repair);
  });
});

describe('the same content is kept in place', () => {
  test('while deletions of the roll-out wait, also of the first one', async () => {
    const fixture = await anInstalled();
    const result = { changes: 1, complete: true, blocked: held, askedDeletions: ['a'] };
    fixture.applier.apply.mockResolvedValue(result);
    give(fixture, { inputsDigest: 'b' });
    expect(await request(fixture)).toEqual(rollOut);
    expect(await request(fixture)).toEqual(repair);
    const { applied: _, ...status } = fixture.status;
    fixture.change({ ...fixture.live, status });
    const next = restarted(fixture);
    next.applier.apply.mockResolvedValue(result);
    give(next, { inputsDigest: 'b' });
    expect(await request(next)).toEqual(repair);
    give(next, { inputsDigest: 'c' });
    expect(await request(next)).toEqual(rollOut);
    expect(await request(next)).toEqual(repair);
  });

  test('when it was installed before core noted what was applied', async () => {
    const first = await anInstalled();
    const { applied: _, ...status } = first.status;
    const fixture = restarted(first);
    fixture.change({ ...first.live, status });
    give(fixture, { inputsDigest: 'b' });
    expect(await request(fixture)).toEqual(repair);
  });

  test('with a seed that changes none of its values', async () => {
    const fixture = await anInstalled();
    give(fixture, { inputsDigest: 'a', seedIdentity: 'old' });
    await settle(fixture);
    give(fixture, { inputsDigest: 'b', seedIdentity: 'new' });
    expect(await request(fixture)).toEqual(repair);
  });
});

describe('with upgradePolicy Manual', () => {
  const changes = [{ action: 'Create', group: 'batch', kind: 'Job', name: 'migrate' }] as const;
  const cluster = { apiVersions: ['v1'], version: 'v1.37.0', systemNamespace: 'rukpak-system' };
  const plan = { digest: 'd', changes, unchanged: 1, problems: [], warnings: [] };

  test.each<[string, (fixture: BundleDeploymentFixture) => void]>([
    ['another config', (fixture) => fixture.changeSpec({ config: { a: 2 } })],
    ['other APIs of the cluster', (fixture) => give(fixture, { inputsDigest: 'a', cluster })],
  ])('an approved plan of %s is rolled out', async (_, change) => {
    const fixture = await anInstalled({ upgradePolicy: 'Manual' });
    fixture.applier.plan.mockResolvedValue(plan);
    fixture.handler.mockResolvedValue([...objects, anObject('ConfigMap', { name: 'new' })]);
    change(fixture);
    await settle(fixture);
    await settle(fixture);
    expect(fixture.applier.plan.mock.lastCall?.[0].unchanged).toBeUndefined();
    annotate(fixture, { [annotation.approve]: fixture.status.plan?.digest });
    expect(await request(fixture)).toEqual(rollOut);
    expect(fixture.status).not.toHaveProperty('plan');
    expect(await request(fixture)).toEqual(repair);
  });
});

function annotate(
  fixture: BundleDeploymentFixture,
  added: Readonly<Record<string, string | undefined>>,
): void {
  const { live } = fixture;
  const annotations = JSON.parse(JSON.stringify({ ...live.metadata.annotations, ...added }));
  fixture.change({ ...live, metadata: { ...live.metadata, annotations } });
}
