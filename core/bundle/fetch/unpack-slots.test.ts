import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { UnpackSlots } from './unpack-slots.ts';

const { signal } = new AbortController();

async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await setImmediate();
}

/** Unpackings whose fetches end when they are told to. */
class Unpackings {
  readonly clock = new ManualClock();
  readonly slots: UnpackSlots;
  readonly fetching: string[] = [];
  readonly fetched: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  readonly #releases = new Map<string, () => void>();

  constructor(slots: number) {
    this.slots = new UnpackSlots({ slots, clock: this.clock });
  }

  /** At the host that the name begins with. */
  begin(name: string, stop = signal): Promise<void> {
    return this.#unpack(name, stop);
  }

  async end(name: string, error?: Error): Promise<void> {
    if (error === undefined) this.#ends.get(name)?.resolve();
    else this.#ends.get(name)?.reject(error);
    await settle();
  }

  async release(name: string): Promise<void> {
    this.#releases.get(name)?.();
    await settle();
  }

  async wait(ms: number): Promise<void> {
    await settle();
    this.clock.advance(ms);
    await settle();
  }

  async #unpack(name: string, stop: AbortSignal): Promise<void> {
    const [address = ''] = name.split('/');
    const slot = await this.slots.take({ creator: name, address }, stop);
    this.#releases.set(name, () => slot.release());
    const end = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    this.fetching.push(name);
    await slot.fetch(() => end.promise, stop);
    this.fetched.push(name);
  }
}

describe('UnpackSlots', () => {
  test('one host has half of the slots at most', async () => {
    const unpackings = new Unpackings(4);
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'c/2']) void unpackings.begin(name);
    await settle();
    expect(unpackings.fetching).toEqual(['a/1', 'a/2', 'b/1', 'c/1']);
    await unpackings.end('a/2');
    expect(unpackings.fetching).toHaveLength(4);
    await unpackings.release('a/2');
    expect(unpackings.fetching).toEqual(['a/1', 'a/2', 'b/1', 'c/1', 'c/2']);
  });

  test('a slow fetch lends its slot, and has one again before its content is used', async () => {
    const unpackings = new Unpackings(1);
    void unpackings.begin('dead/1');
    void unpackings.begin('good/1');
    await unpackings.wait(1_999);
    expect(unpackings.fetching).toEqual(['dead/1']);
    await unpackings.wait(1);
    expect(unpackings.fetching).toEqual(['dead/1', 'good/1']);
    await unpackings.end('dead/1');
    expect(unpackings.fetched).toEqual([]);
    await unpackings.end('good/1');
    await unpackings.release('good/1');
    expect(unpackings.fetched).toEqual(['good/1', 'dead/1']);
    void unpackings.begin('good/2');
    await settle();
    expect(unpackings.fetching).not.toContain('good/2');
    await unpackings.release('dead/1');
    expect(unpackings.fetching).toContain('good/2');
  });

  test('no more than eight slow fetches for a slot: they hold content', async () => {
    const unpackings = new Unpackings(1);
    const names = Array.from({ length: 12 }, (_, index) => `host-${index}/1`);
    const first = unpackings.begin('host-0/1');
    for (const name of names.slice(1)) void unpackings.begin(name);
    for (const _ of names) await unpackings.wait(2_000);
    expect(unpackings.fetching).toEqual(names.slice(0, 9));
    const rejected = expect(first).rejects.toThrow('no answer');
    await unpackings.end('host-0/1', new Error('no answer'));
    await rejected;
    await unpackings.wait(2_000);
    expect(unpackings.fetching).toEqual(names.slice(0, 10));
  });

  test('a fetch that fails leaves its place and its slot to others, lent or not', async () => {
    for (const wait of [0, 2_000]) {
      const unpackings = new Unpackings(1);
      const failing = unpackings.begin('dead/1');
      void unpackings.begin('dead/2');
      await unpackings.wait(wait);
      const rejected = expect(failing).rejects.toThrow('no answer');
      await unpackings.end('dead/1', new Error('no answer'));
      await rejected;
      await unpackings.release('dead/1');
      expect(unpackings.fetching).toEqual(['dead/1', 'dead/2']);
    }
  });

  test('an aborted wait ends at once, and costs no other Bundle a turn', async () => {
    const unpackings = new Unpackings(2);
    for (const name of ['a/1', 'b/1']) void unpackings.begin(name);
    const stop = new AbortController();
    const waiting = ['a/2', 'c/1'].map((name) => unpackings.begin(name, stop.signal));
    await settle();
    void unpackings.begin('a/3');
    stop.abort(new Error('deleted'));
    for (const each of waiting) await expect(each).rejects.toThrow('deleted');
    await unpackings.end('a/1');
    await unpackings.release('a/1');
    expect(unpackings.fetching).toEqual(['a/1', 'b/1', 'a/3']);
  });
});

test('eighty stalled servers of one machine or of one creator cost others no turn', async () => {
  for (const creatorAndAddress of [
    (index: number) => ({ creator: `c${index}`, address: 'one machine' }),
    (index: number) => ({ creator: 'one creator', address: `192.0.2.${index}` }),
  ]) {
    const clock = new ManualClock();
    const slots = new UnpackSlots({ slots: 8, clock });
    const stop = new AbortController();
    const stalled = Array.from({ length: 80 }, async (_, index) => {
      const slot = await slots.take(creatorAndAddress(index), stop.signal);
      await slot.fetch(() => new Promise<void>(() => undefined), stop.signal);
    });
    void Promise.allSettled(stalled);
    // All that it can have it has by now.
    for (let turn = 0; turn < 20; turn++) {
      await settle();
      clock.advance(2_000);
    }
    await settle();
    const taken: string[] = [];
    for (const creator of ['ann', 'ben']) {
      const slot = slots.take({ creator, address: `of ${creator}` }, signal);
      void slot.then((each) => {
        taken.push(creator);
        each.release();
      });
    }
    await settle();
    expect(taken).toEqual(['ann', 'ben']);
    stop.abort(new Error('enough'));
  }
});

test('content that is here goes before what is yet to be fetched', async () => {
  const slots = new UnpackSlots({ slots: 1, clock: new ManualClock() });
  const first = await slots.take({ creator: 'a', address: 'a.example' }, signal);
  const order: string[] = [];
  const fetching = slots.take({ creator: 'b', address: 'b.example' }, signal).then((slot) => {
    order.push('fetch');
    slot.release();
  });
  const holding = slots.takeWithContent('c', signal).then((slot) => {
    order.push('content');
    slot.release();
  });
  await settle();
  first.release();
  await Promise.all([fetching, holding]);
  expect(order).toEqual(['content', 'fetch']);
});
