import { expect, test } from 'vitest';
import { aKeptBundle, BundleFixture } from '../../test/helpers/bundle-fixture.ts';
import { computeStatus } from '../apply/index.ts';
import { TerminalError, WaitingError } from '../errors.ts';

function kstatus({ live, clock }: BundleFixture): string {
  return computeStatus(live, clock.now()).status;
}

test('an unpacked Bundle is Ready, in the write that says so, about its generation', async () => {
  const fixture = new BundleFixture(aKeptBundle());
  await fixture.reconcile();
  const message = 'Successfully unpacked the image Bundle';
  expect(fixture.summary).toEqual([`Ready True UnpackSuccessful: ${message}`]);
  expect(fixture.live.status?.conditions?.at(-1)).toMatchObject({ observedGeneration: 1 });
  expect(kstatus(fixture)).toBe('Current');
  expect(fixture.phases).toEqual(['Unpacked']);
});

test('one that was unpacked before there was Ready becomes it, by one write, and is not fetched', async () => {
  const fixture = new BundleFixture(aKeptBundle());
  await fixture.reconcile();
  fixture.change({ ...fixture.live, status: fixture.status });
  await fixture.reconcile();
  await fixture.reconcile();
  expect(fixture.summary).toEqual([
    'Ready True UnpackSuccessful: Successfully unpacked the image Bundle',
  ]);
  expect(fixture.phases).toEqual(['Unpacked', 'Unpacked']);
  expect(fixture.fetch).toHaveBeenCalledOnce();
});

test.each([
  [new WaitingError('no such tag'), 'UnpackPending: no such tag', 'Reconciling'],
  [new Error('reset'), 'UnpackFailed: source bundle content: reset', 'Reconciling'],
  [new TerminalError('no tar'), 'UnpackFailed: source bundle content: no tar', 'Stalled'],
])('%s is told by the rules of kstatus', async (error, text, outlook) => {
  const fixture = new BundleFixture(aKeptBundle());
  fixture.fetch.mockRejectedValue(error);
  await fixture.failure();
  expect(fixture.summary).toEqual([`Ready False ${text}`, `${outlook} True ${text}`]);
  expect(kstatus(fixture)).toBe(outlook === 'Stalled' ? 'Failed' : 'InProgress');
});

test('an upload that has not come yet is awaited: neither at work nor stuck', async () => {
  const fixture = new BundleFixture(aKeptBundle());
  fixture.fetch.mockRejectedValue(new WaitingError('no upload', { retry: 'on-change' }));
  await fixture.failure();
  expect(fixture.summary).toEqual(['Ready False AwaitingUpload: no upload']);
});
