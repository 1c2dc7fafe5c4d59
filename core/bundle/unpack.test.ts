import { expect, test } from 'vitest';
import { aKeptBundle, BundleFixture, pinned, tree } from '../../test/helpers/bundle-fixture.ts';
import { WaitingError } from '../errors.ts';

function measured() {
  const told: string[] = [];
  const unpackMetrics = {
    ended: (source: string, outcome: string, seconds: number) =>
      void told.push(`${source} ${outcome} after ${seconds}`),
    phaseEnded: (source: string, phase: string, seconds: number) =>
      void told.push(`${source} ${phase} took ${seconds}`),
    fetched: (source: string, bytes: number) => void told.push(`${source} brought ${bytes}`),
  };
  return { told, fixture: new BundleFixture(aKeptBundle(), { unpackMetrics }) };
}

test('each phase of an unpacking, its bytes, and all together', async () => {
  const { told, fixture } = measured();
  fixture.fetch.mockImplementation(async () => {
    fixture.clock.advance(1_500);
    return { files: tree, resolvedSource: pinned };
  });
  await fixture.reconcile();
  expect(told).toEqual([
    'image fetch took 1.5',
    'image brought 15',
    'image convert took 0',
    'image persist took 0',
    'image unpacked after 1.5',
  ]);
});

test.each([
  [new WaitingError('later'), 'waiting'],
  [new Error('no'), 'failed'],
])('an unpacking that ends with %s is %s', async (error, outcome) => {
  const { told, fixture } = measured();
  fixture.fetch.mockRejectedValue(error);
  await fixture.failure();
  expect(told).toEqual(['image fetch took 0', 'image brought 0', `image ${outcome} after 0`]);
});

test('one that was aborted says nothing about its source', async () => {
  const { told, fixture } = measured();
  fixture.fetch.mockImplementation(async () => {
    fixture.stop.abort(new Error('the process stops'));
    throw new Error('aborted');
  });
  await fixture.failure();
  expect(told.filter((line) => line.includes(' after '))).toEqual([]);
});

test('sources and classes log with the logger of the reconcile', async () => {
  const { fixture } = measured();
  await fixture.reconcile();
  expect(fixture.fetch.mock.calls[0]?.[1].logger).toBe(fixture.logger);
  expect(fixture.handler.mock.calls[0]?.[2].logger).toBe(fixture.logger);
});
