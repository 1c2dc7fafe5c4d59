import type { LookupAddress } from 'node:dns';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { createAddressGuard } from './address-policy.ts';
import { lookupPlaces, NameLookups } from './name-lookups.ts';

const found: readonly LookupAddress[] = [{ address: '192.0.2.7', family: 4 }];

/** The names that were asked for, in order. */
let asked: string[];
let clock: ManualClock;
let hanging: Map<string, PromiseWithResolvers<readonly LookupAddress[]>>;

beforeEach(() => {
  asked = [];
  clock = new ManualClock();
  hanging = new Map();
});

/** The name servers of *.hung.example do not answer. */
async function resolve(name: string): Promise<readonly LookupAddress[]> {
  asked.push(name);
  if (!name.endsWith('hung.example')) return found;
  const answer = Promise.withResolvers<readonly LookupAddress[]>();
  hanging.set(name, answer);
  return await answer.promise;
}

function someHanging(lookups: NameLookups, count: number): void {
  for (let index = 0; index < count; index += 1) {
    void lookups.addresses(`${index}.hung.example`, {});
  }
}

describe('names that no server answers', () => {
  test('of one domain, however many, leave places to those of others', async () => {
    const lookups = new NameLookups({ places: 7, resolve, clock });
    someHanging(lookups, 100);
    await setImmediate();
    expect(asked.length).toBeLessThan(7);
    expect(await lookups.addresses('registry.example.org', {})).toBe(found);
  });

  test('of many domains leave one to names that resolved before', async () => {
    const lookups = new NameLookups({ places: 7, resolve, clock });
    await lookups.addresses('registry.example.org', {});
    for (let index = 0; index < 100; index += 1) {
      void lookups.addresses(`a.${index}-hung.example`, {});
    }
    await setImmediate();
    expect(await lookups.addresses('registry.example.org', {})).toBe(found);
  });

  test('take turns with those of other domains', async () => {
    const lookups = new NameLookups({ places: 1, resolve, clock });
    someHanging(lookups, 10);
    const other = lookups.addresses('registry.example.org', {});
    for (const name of ['0.hung.example', '1.hung.example']) {
      await setImmediate();
      hanging.get(name)?.resolve(found);
    }
    await other;
    expect(asked.slice(0, 3)).toEqual(['0.hung.example', '1.hung.example', 'registry.example.org']);
  });

  test('fail as names that cannot be resolved now, and are not asked for any more', async () => {
    const lookups = new NameLookups({ places: 1, resolve, clock });
    const failed = ['a', 'b'].map(async (name) => {
      await lookups.addresses(`${name}.hung.example`, {});
    });
    clock.advance(9_000);
    for (const each of failed) await expect(each).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    hanging.get('a.hung.example')?.resolve(found);
    await lookups.addresses('registry.example.org', {});
    expect(asked).toEqual(['a.hung.example', 'registry.example.org']);
  });
});

test('concurrent lookups of a name are one', async () => {
  const lookups = new NameLookups({ places: 1, resolve, clock });
  const all = [1, 2, 3].map(() => lookups.addresses('registry.example.org', { family: 4 }));
  await Promise.all(all);
  expect(asked).toEqual(['registry.example.org']);
});

test('a name that does not exist is said as the resolver says it', async () => {
  const missing = Object.assign(new Error('getaddrinfo ENOTFOUND no.example'), {
    code: 'ENOTFOUND',
  });
  const failing = async () => await Promise.reject(missing);
  const lookups = new NameLookups({ places: 1, resolve: failing });
  const { lookup } = createAddressGuard({}, lookups);
  const socket = connect({ host: 'no.example', port: 1, lookup });
  const error = await new Promise((resolve) => socket.once('error', resolve));
  expect(error).toBe(missing);
});

test.each([
  [Number.NaN, 2],
  [1, 2],
  [4, 2],
  [16, 7],
  [17, 8],
])('with %s threads there are %d places', (threads, places) => {
  expect(lookupPlaces(threads)).toBe(places);
});
