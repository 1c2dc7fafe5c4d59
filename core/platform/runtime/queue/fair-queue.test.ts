import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Claim, precedence } from './claims.ts';
import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

interface Item extends Claim {
  readonly id: number;
}

const creators = ['ann', 'ben', 'cem', 'dia'];
const claims = fc.record({
  creator: fc.constantFrom(...creators),
  precedence: fc.constantFrom(...Object.values(precedence)),
  address: fc.constantFrom('a', 'b', 'c'),
});

/** Random arrivals and departures; what was served, and who held how much when. */
class Shop {
  readonly queue: FairQueue<Item>;
  readonly held: Item[] = [];
  readonly waiting = new Set<Item>();
  readonly served: Item[] = [];
  readonly #options: FairQueueOptions;

  constructor(options: FairQueueOptions) {
    this.queue = new FairQueue(options);
    this.#options = options;
  }

  arrive(claim: Claim): Item {
    const item = { ...claim, id: this.waiting.size + this.served.length };
    this.waiting.add(item);
    this.queue.add(item, item);
    this.serve();
    return item;
  }

  leave(index: number): void {
    const [gone] = this.held.splice(index % Math.max(1, this.held.length), 1);
    if (gone !== undefined) this.queue.release(gone);
    this.serve();
  }

  serve(): void {
    for (;;) {
      const before = [...this.held];
      const item = this.queue.next();
      if (item === undefined) return;
      this.#check(item, before);
      this.waiting.delete(item);
      this.held.push(item);
      this.served.push(item);
    }
  }

  heldBy(creator: string, held: readonly Item[] = this.held): number {
    return held.filter((item) => item.creator === creator).length;
  }

  /** Nobody beyond its share is served before one below it, where nothing else keeps that one. */
  #check(item: Item, held: readonly Item[]): void {
    const { places, keepsNone, perAddress } = this.#options;
    if (keepsNone !== true || perAddress !== undefined) return;
    const present = new Set([...held, ...this.waiting].map(({ creator }) => creator));
    const share = Math.ceil(places / present.size);
    const below = [...this.waiting].some(({ creator }) => this.heldBy(creator, held) < share);
    if (below) expect(this.heldBy(item.creator, held)).toBeLessThan(share);
  }
}

const steps = fc.array(fc.oneof(claims, fc.nat({ max: 20 })), { maxLength: 200 });

describe('FairQueue', () => {
  test('with random arrivals nobody has more than its share while others wait', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 9 }), (each, places) => {
        const shop = new Shop({ places, keepsNone: true });
        for (const step of each) {
          if (typeof step === 'number') shop.leave(step);
          else shop.arrive({ creator: step.creator, precedence: step.precedence });
        }
        expect(shop.held.length).toBe(Math.min(places, shop.held.length + shop.waiting.size));
      }),
    );
  });

  test('never starves a creator: all are served in the end, newcomers soon', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 9 }), (each, places) => {
        const shop = new Shop({ places, urgentPlaces: 1, perAddress: 3 });
        for (const step of each) {
          if (typeof step === 'number') shop.leave(step);
          else shop.arrive(step);
        }
        const late = shop.arrive({ creator: 'eve', precedence: precedence.first });
        const before = shop.served.length;
        // Others never stop coming with what has precedence.
        for (let turn = 0; shop.waiting.has(late); turn += 1) {
          expect(turn).toBeLessThan(200);
          for (const creator of creators) shop.arrive({ creator, precedence: precedence.urgent });
          shop.leave(turn);
        }
        expect(shop.served.length - before).toBeLessThanOrEqual(4 * (creators.length + 1) + places);
        while (shop.held.length > 0) shop.leave(0);
        expect([shop.waiting.size, shop.queue.length, shop.queue.creators]).toEqual([0, 0, 0]);
      }),
    );
  });

  test('addresses have their bound, and those that wait for one hold up no other', () => {
    fc.assert(
      fc.property(steps, (each) => {
        const shop = new Shop({ places: 20, perAddress: 2, keepsNone: true });
        for (const step of each) {
          if (typeof step === 'number') shop.leave(step);
          else shop.arrive(step);
          const full = (address?: string) =>
            shop.held.filter((item) => item.address === address).length;
          for (const address of ['a', 'b', 'c']) expect(full(address)).toBeLessThanOrEqual(2);
          for (const { address } of shop.waiting) expect(full(address)).toBe(2);
        }
      }),
    );
  });

  test('keeps places for newcomers: a single creator gets at most three quarters, and always one', () => {
    for (const [places, most] of [
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 3],
      [8, 6],
      [72, 54],
    ] as const) {
      const shop = new Shop({ places });
      for (let each = 0; each < 100; each += 1) shop.arrive({ creator: 'ann' });
      expect(shop.held).toHaveLength(most);
      shop.arrive({ creator: 'ben' });
      expect(shop.heldBy('ben')).toBe(places === 1 ? 0 : 1);
    }
  });

  test('keeps places for newcomers among urgent ones too: each may wait long for a server', () => {
    const shop = new Shop({ places: 8, urgentPlaces: 1 });
    const { urgent, first } = precedence;
    for (let each = 0; each < 100; each += 1) shop.arrive({ creator: 'ann', precedence: urgent });
    expect(shop.held).toHaveLength(6);
    expect(shop.held).toContain(shop.arrive({ creator: 'ben', precedence: first }));
    expect(shop.held).toContain(shop.arrive({ creator: 'cem', precedence: urgent }));
  });

  test('who is further along goes first, and an urgent one finds a place among first installs', () => {
    const shop = new Shop({ places: 4, urgentPlaces: 1, keepsNone: true });
    const { first, ready, urgent } = precedence;
    for (let each = 0; each < 9; each += 1) shop.arrive({ creator: 'ann', precedence: first });
    expect(shop.held).toHaveLength(3);
    const unpacked = shop.arrive({ creator: 'ann', precedence: ready });
    const changed = shop.arrive({ creator: 'ann', precedence: urgent });
    expect(shop.held).toContain(changed);
    expect(shop.held).not.toContain(unpacked);
    shop.leave(0);
    shop.leave(0);
    expect(shop.held).toContain(unpacked);
  });

  test('a creator’s own first installs keep places for what is urgent, and for others', () => {
    const shop = new Shop({ places: 8, urgentPlaces: 1 });
    const arrive = (creator: string, each: keyof typeof precedence): Item =>
      shop.arrive({ creator, precedence: precedence[each] });
    for (let each = 0; each < 20; each += 1) arrive('ann', 'first');
    expect(shop.held).toHaveLength(6);
    expect(shop.held).toContain(arrive('ann', 'urgent'));
    expect(shop.held).toContain(arrive('ben', 'urgent'));
    shop.leave(6);
    expect(shop.held).toContain(arrive('cem', 'first'));
  });

  test('one that waits may get precedence, and loses none', () => {
    const queue = new FairQueue<string>({ places: 1 });
    for (const key of ['a', 'b', 'c'])
      queue.add(key, { creator: '', precedence: precedence.first });
    queue.add('c', { creator: '', precedence: precedence.urgent });
    queue.add('c', { creator: '', precedence: precedence.first });
    expect(queue.length).toBe(3);
    expect(queue.next()).toBe('c');
    expect(queue.delete('a')).toBe(true);
    expect(queue.delete('a')).toBe(false);
    queue.release('c');
    expect(queue.next()).toBe('b');
  });
});
