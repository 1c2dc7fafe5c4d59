import { describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { consentedOwnership, DeploymentConsent } from './consent.ts';

const id = '|ConfigMap|n|c';
const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'n' } };

interface Given {
  readonly name?: string;
  readonly handOver?: string;
  readonly adopt?: string;
  readonly adoption?: 'Never' | 'Unowned' | 'Always';
  readonly going?: boolean;
}

function aDeployment({
  name = 'taker',
  handOver,
  adopt,
  adoption,
  going,
}: Given): BundleDeployment {
  const annotations = {
    ...(handOver === undefined ? {} : { 'core.rukpak.io/hand-over': handOver }),
    ...(adopt === undefined ? {} : { 'core.rukpak.io/adopt': adopt }),
  };
  const deletion = going === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  const deployment = aStoredDeployment({ name, metadata: { name, annotations, ...deletion } });
  const spec = { ...deployment.spec, ...(adoption === undefined ? {} : { adoption }) };
  return { ...deployment, spec };
}

/** Consent among these deployments, and how often each was read. */
function consentOf(...deployments: readonly BundleDeployment[]) {
  const owners = new OwnerStates(new ManualClock());
  const reads: string[] = [];
  const get = async (_resource: unknown, { name }: { readonly name: string }) => {
    reads.push(name);
    const found = deployments.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
    return found;
  };
  const signal = AbortSignal.timeout(120_000);
  return { consent: new DeploymentConsent({ client: { get }, owners, signal }), owners, reads };
}

const subject = { holder: 'holder', id, live };

test('what a deployment had that is gone is for nobody to hand over', async () => {
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'gone',
  };
  const mark = { 'core.rukpak.io/tracking-id': 'u:/ConfigMap:n/c' };
  const left = { ...live, metadata: { ...live.metadata, labels, annotations: mark } };
  const subject = { owner: aDeployment({}), id, live: left };
  const because = 'belonged to BundleDeployment "gone", which no longer exists';
  const refused = { verdict: 'refused', because, needsAlways: true };
  expect(await consentedOwnership(subject, 'system', consentOf().consent)).toEqual(refused);
  const taker = { ...subject, owner: aDeployment({ adoption: 'Always' }) };
  expect(await consentedOwnership(taker, 'system', consentOf().consent)).toMatchObject({
    verdict: 'adopt',
  });
});

describe('a transfer of ownership', () => {
  const holder = aDeployment({ name: 'holder', handOver: 'x, taker' });

  test.each([undefined, 'Unowned', 'Always'] as const)(
    'is consent enough for adoption %s',
    async (adoption) => {
      const { consent } = consentOf(holder);
      const taker = aDeployment(adoption === undefined ? {} : { adoption });
      const answer = await consent.toTake(subject, taker);
      expect(answer).toEqual({ given: true, transferredBy: holder });
    },
  );

  test('is not for who takes nothing, nor for whom it does not name', async () => {
    const { consent } = consentOf(holder);
    expect(await consent.toTake(subject, aDeployment({ adoption: 'Never' }))).toEqual({
      given: false,
    });
    expect(await consent.toTake(subject, aDeployment({ name: 'y' }))).toEqual({ given: false });
  });

  test.each([
    ['to one another', [aDeployment({ handOver: 'holder' })]],
    [
      'in a ring',
      [aDeployment({ handOver: 'third' }), aDeployment({ name: 'third', handOver: 'holder' })],
    ],
  ])('%s gives no consent: the object would change deployments for ever', async (_, others) => {
    const { consent } = consentOf(holder, ...others);
    const [taker = aDeployment({})] = others;
    expect(await consent.toTake(subject, taker)).toEqual({ given: false });
  });

  test('goes on to a third one', async () => {
    const taker = aDeployment({ handOver: 'third' });
    const { consent } = consentOf(holder, taker, aDeployment({ name: 'third' }));
    expect(await consent.toTake(subject, taker)).toMatchObject({ given: true });
  });

  test('reads no more than a hundred of those that a taker names', async () => {
    const handOver = Array.from({ length: 5_000 }, (_, index) => `d${index}`).join(',');
    const { consent, reads } = consentOf(holder);
    const answer = await consent.toTake(subject, aDeployment({ handOver }));
    expect(answer).toMatchObject({ given: true });
    expect(reads).toHaveLength(101);
  });

  test('is asked about once, however many objects there are', async () => {
    const { consent, reads } = consentOf(holder);
    await Promise.all([1, 2, 3].map(() => consent.toTake(subject, aDeployment({}))));
    expect(reads).toEqual(['holder']);
  });
});

describe.each([
  ['adoption Always', aDeployment({ adoption: 'Always' })],
  ['the annotation', aDeployment({ adopt: 'ConfigMap/n/c' })],
])('without a transfer, %s', (_, taker) => {
  test.each([
    ['is gone', []],
    ['is being deleted', [aDeployment({ name: 'holder', going: true })]],
  ])('takes where the other one %s', async (__, deployments) => {
    const { consent } = consentOf(...deployments);
    expect(await consent.toTake(subject, taker)).toEqual({ given: true });
  });

  test('takes what is known to be wanted no more, and only that', async () => {
    const { consent, owners } = consentOf(aDeployment({ name: 'holder' }));
    expect(await consent.toTake(subject, taker)).toEqual({ given: false });
    owners.of('holder').claim([id]);
    owners.of('holder').settle(new Set([id]));
    expect(await consent.toTake(subject, taker)).toEqual({ given: false });
    owners.of('holder').settle(new Set());
    expect(await consent.toTake(subject, taker)).toEqual({ given: true });
  });

  test('does not take what a hook of the other one made, which is in no set', async () => {
    const { consent, owners } = consentOf(aDeployment({ name: 'holder' }));
    owners.of('holder').settle(new Set());
    const annotations = { 'core.rukpak.io/hook-run': 'pre-install' };
    const made = { ...live, metadata: { ...live.metadata, annotations } };
    expect(await consent.toTake({ ...subject, live: made }, taker)).toEqual({ given: false });
  });
});

test('who takes only what nobody has waits for the other one to be deleted', async () => {
  const { consent } = consentOf();
  const taker = aDeployment({ adoption: 'Unowned' });
  expect(await consent.toTake(subject, taker)).toEqual({ given: false });
});
