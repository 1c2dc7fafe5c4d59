import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { ManualClock } from '../../../../test/helpers/manual-clock.ts';
import { TerminalError, WaitingError } from '../../../errors.ts';
import { ByteBudget } from './byte-budget.ts';
import type { MemoryShare, ShareKind } from './memory-share.ts';

let clock: ManualClock;
let budget: ByteBudget;

beforeEach(() => {
  clock = new ManualClock();
  budget = new ByteBudget({ bytes: 100, unwaited: 0, clock });
});

/** What takes memory, and gives it back when it is ended. */
interface Taker {
  readonly share: MemoryShare;
  readonly signal: AbortSignal;
  take(bytes: number): Promise<void>;
}

function aTaker(kind: ShareKind = 'fetch'): Taker {
  const ended = new AbortController();
  const share = budget.open({
    kind,
    onEnd: (reason) => {
      ended.abort(reason);
      share.release();
    },
  });
  const { signal } = ended;
  const take = async (bytes: number): Promise<void> => {
    await share.take(bytes, signal);
  };
  return { share, signal, take };
}

async function taken(kind: ShareKind, bytes: number): Promise<Taker> {
  const taker = aTaker(kind);
  if (kind === 'fetch') await taker.take(bytes);
  else taker.share.set(bytes);
  return taker;
}

/** Turns the clock on until something holds: who waits looks at it every five seconds. */
async function whileTimeGoesOn(condition: () => void): Promise<void> {
  await eventually(
    async () => {
      await setImmediate();
      clock.advance(1_000);
      condition();
    },
    { every: 10 },
  );
}

const inUse =
  'waiting for memory: all 0 MiB that content and worker processes may take together (--memory-budget) are in use';

describe('bytes', () => {
  test('are taken and given back', async () => {
    const taker = await taken('fetch', 60);
    await taker.take(40);
    expect(budget.taken).toBe(100);
    taker.share.release();
    expect(budget.taken).toBe(0);
  });

  test('are waited for in the order in which they were asked for', async () => {
    const first = await taken('work', 60);
    const order: string[] = [];
    const large = aTaker()
      .take(90)
      .then(() => order.push('large'));
    const last = aTaker();
    const small = last.take(10).then(() => order.push('small'));
    await setImmediate();
    expect(budget.waiting).toBe(2);
    first.share.release();
    await Promise.all([large, small]);
    expect(order).toEqual(['large', 'small']);
    expect(budget.waiting).toBe(0);
    expect(budget.taken).toBe(100);
    expect(getEventListeners(last.signal, 'abort')).toEqual([]);
  });

  test('are given at once to those who have few', async () => {
    const small = new ByteBudget({ bytes: 100, unwaited: 10, clock });
    small.open({ kind: 'work' }).set(100);
    const share = small.open({ kind: 'fetch' });
    const { signal } = new AbortController();
    await share.take(10, signal);
    expect(small.taken).toBe(110);
    void share.take(1, signal).catch(() => undefined);
    expect(small.waiting).toBe(1);
  });

  test('are no longer waited for by one that is aborted, and those behind it go on', async () => {
    await taken('work', 60);
    const stop = new AbortController();
    const given = budget.open({ kind: 'fetch' }).take(90, stop.signal);
    const small = aTaker().take(10);
    stop.abort(new Error('deleted'));
    await expect(given).rejects.toThrow('deleted');
    await small;
    expect(budget.taken).toBe(70);
  });

  test('are refused where there will never be as many', async () => {
    const taker = await taken('fetch', 60);
    await expect(taker.take(41)).rejects.toThrow(TerminalError);
    await expect(taker.take(41)).rejects.toThrow(/than the 0 MiB .* \(--memory-budget\)/);
  });

  test('of content are held until each of those who have it released it', async () => {
    const { share } = await taken('fetch', 20);
    share.settle(50);
    share.retain();
    share.release();
    expect(budget.taken).toBe(50);
    share.release();
    expect(budget.taken).toBe(0);
    share.retain();
    expect(budget.taken).toBe(50);
  });
});

describe('whoever waits', () => {
  test('gets what the youngest fetch has that its server keeps waiting', async () => {
    const older = await taken('fetch', 50);
    const younger = await taken('fetch', 50);
    const next = aTaker();
    const given = next.take(30);
    await whileTimeGoesOn(() => expect(younger.signal.aborted).toBe(true));
    await given;
    expect(younger.signal.reason).toEqual(new WaitingError(inUse));
    expect(older.signal.aborted).toBe(false);
    expect(budget.ended).toBe(1);
  });

  test('waits for fetches that go on', async () => {
    const fetch = await taken('fetch', 50);
    await taken('work', 40);
    const given = aTaker().take(30);
    for (let second = 0; second < 10; second += 1) {
      await setImmediate();
      clock.advance(1_000);
      fetch.share.set(fetch.share.bytes + 1);
    }
    expect(fetch.signal.aborted).toBe(false);
    fetch.share.release();
    await given;
  });

  test('has an idle process ended at once', async () => {
    const idle = await taken('idle', 50);
    await taken('work', 50);
    await aTaker().take(30);
    expect(idle.signal.aborted).toBe(true);
  });

  test('does so while all others wait for more as well: the youngest of them ends', async () => {
    const takers = await Promise.all([1, 2, 3, 4].map(() => taken('fetch', 25)));
    const results = takers.map(async (taker) => {
      for (let step = 0; step < 3; step += 1) await taker.take(25);
      taker.share.release();
    });
    const outcomes = Promise.allSettled(results);
    let isOver = false;
    void outcomes.then(() => (isOver = true));
    await whileTimeGoesOn(() => expect(isOver).toBe(true));
    const statuses = (await outcomes).map(({ status }) => status);
    expect(statuses[0]).toBe('fulfilled');
    expect(statuses.at(-1)).toBe('rejected');
    expect(budget.taken).toBe(0);
  });
});

describe('a process that takes more than there is', () => {
  test('ends idle ones first, then the fetch that is slow, then the youngest process', async () => {
    const idle = await taken('idle', 10);
    const slow = await taken('fetch', 20);
    clock.advance(5_000);
    const quick = await taken('fetch', 20);
    const older = await taken('work', 20);
    const work = await taken('work', 30);
    const ended = () =>
      [idle, slow, quick, older, work].map(({ signal: { aborted } }) => (aborted ? 1 : 0)).join('');
    work.share.set(40);
    expect(ended()).toBe('10000');
    work.share.set(50);
    expect(ended()).toBe('11000');
    work.share.set(70);
    expect(ended()).toBe('11001');
    older.share.set(90);
    expect(ended()).toBe('11101');
  });

  test('goes on where it is the only one', () => {
    const { share, signal } = aTaker('work');
    share.set(150);
    expect(signal.aborted).toBe(false);
    expect(budget.taken).toBe(150);
  });

  test('is not told to end twice, and counts as gone', () => {
    const reasons: Error[] = [];
    const share = budget.open({ kind: 'idle', onEnd: (reason) => reasons.push(reason) });
    share.set(50);
    const others = [budget.open({ kind: 'work' }), budget.open({ kind: 'work' })];
    for (const other of others) other.set(40);
    expect(reasons).toHaveLength(1);
    expect(budget.ended).toBe(1);
  });
});
