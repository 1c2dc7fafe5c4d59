import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import {
  ApiError,
  type Discovery,
  type KubeClient,
  type Resource,
} from '../../platform/kube/index.ts';
import type { ListOptions, ObjectList, WatchOptions } from '../../platform/kube/kube-client.ts';
import { Inventory } from '../inventory/inventory.ts';
import { KindWatches } from './kind-watches.ts';

const widgets: Resource = {
  group: 'e.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const never = new AbortController().signal;

interface Harness {
  readonly watches: KindWatches;
  readonly clock: ManualClock;
  readonly selectors: unknown[];
  invalidations: number;
}

function harness(
  list: () => Promise<ObjectList>,
  watched = Promise.withResolvers<never>().promise,
): Harness {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const clock = new ManualClock();
  const selectors: unknown[] = [];
  const client = {
    list: async (_resource: Resource, options?: ListOptions) => {
      selectors.push(options?.labelSelector);
      return await list();
    },
    watch: async function* (_: Resource, { signal, sendInitialEvents }: WatchOptions) {
      // A server that does not stream its lists.
      if (sendInitialEvents === true) throw new ApiError(422, { reason: 'Invalid' });
      const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.race([ended, watched]);
      yield* [];
    },
  } as unknown as KubeClient;
  const discovery = {
    invalidate: () => {
      made.invalidations += 1;
    },
  } as unknown as Discovery;
  const watches = new KindWatches({
    client,
    discovery,
    inventory: new Inventory(),
    clock,
    logger: silentLogger,
    signal: stop.signal,
  });
  const made = { watches, clock, selectors, invalidations: 0 };
  return made;
}

/** Advances the clock in small steps, so that every waiting task runs. */
async function pass(clock: ManualClock, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 50) {
    await turn();
    clock.advance(50);
  }
  await turn();
}

async function outcome(attempt: Promise<void>): Promise<unknown> {
  return await attempt.then(
    () => 'synced',
    (error: unknown) => error,
  );
}

test('a kind is listed once, however many ask for it', async () => {
  const empty = { metadata: { resourceVersion: '1' }, items: [] };
  const { watches, selectors } = harness(async () => empty);
  await Promise.all([watches.ensure([widgets], never), watches.ensure([widgets], never)]);
  await watches.ensure([widgets], never);
  expect(selectors).toEqual(['core.rukpak.io/owner-kind=BundleDeployment']);
  expect(watches.watched({ group: 'e.com', kind: 'Widget' })).toBe(widgets);
});

test('a kind that is gone is forgotten soon, and discovery too', async () => {
  const made = harness(async () => {
    throw new ApiError(404, { message: 'the server could not find the requested resource' });
  });
  const attempt = outcome(made.watches.ensure([widgets], never));
  await pass(made.clock, 4000);
  expect(await attempt).toMatchObject({
    name: 'Error',
    message: 'cannot watch widgets of e.com/v1: the server could not find the requested resource',
  });
  expect(made.invalidations).toBe(1);
  expect(made.watches.watched({ group: 'e.com', kind: 'Widget' })).toBeUndefined();
});

test('a kind that may not be watched fails with the reason of the specification', async () => {
  const made = harness(async () => {
    throw new ApiError(403, { message: 'widgets is forbidden' });
  });
  const attempt = outcome(made.watches.ensure([widgets], never));
  await pass(made.clock, 4000);
  expect(await attempt).toMatchObject({
    name: 'TerminalError',
    reason: 'CreateDynamicWatchFailed',
    message: 'cannot watch widgets of e.com/v1: widgets is forbidden',
  });
});

test('a server that does not answer is given up after a while, a caller that goes at once', async () => {
  const made = harness(async () => await new Promise(() => undefined));
  const caller = new AbortController();
  const first = outcome(made.watches.ensure([widgets], never));
  const second = outcome(made.watches.ensure([widgets], caller.signal));
  caller.abort(new Error('gone'));
  expect(await second).toMatchObject({ message: 'gone' });
  await pass(made.clock, 31_000);
  expect(await first).toMatchObject({
    message: 'cannot watch widgets of e.com/v1: no answer within 30 s',
  });
});

test('a kind that goes while it is watched is looked for again: nothing of it is left for good', async () => {
  const gone = new ApiError(404, { message: 'the server could not find the requested resource' });
  const empty = { metadata: { resourceVersion: '1' }, items: [] };
  const lists = [empty];
  const watched = Promise.withResolvers<never>();
  const made = harness(async () => {
    const list = lists.pop();
    if (list === undefined) throw gone;
    return list;
  }, watched.promise);
  await made.watches.ensure([widgets], never);
  watched.reject(gone);
  await pass(made.clock, 1000);
  const attempt = outcome(made.watches.ensure([widgets], never));
  await pass(made.clock, 4000);
  expect(await attempt).toMatchObject({
    message: 'cannot watch widgets of e.com/v1: the server could not find the requested resource',
  });
  expect(made.watches.watched({ group: 'e.com', kind: 'Widget' })).toBeUndefined();
});
