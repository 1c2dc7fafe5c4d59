import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { type UploadPlace, UploadPlaces } from './upload-places.ts';

const kibibyte = 1024;
let clock: ManualClock;
let places: UploadPlaces;

beforeEach(() => {
  clock = new ManualClock();
  places = new UploadPlaces(clock);
});

/** Uploads that the clients send, as after their headers. */
async function receiving(creator: string, count: number): Promise<UploadPlace[]> {
  const taken: UploadPlace[] = [];
  for (let index = 0; index < count; index += 1) {
    const place = await places.take(creator);
    place.begin();
    // As its handler does, when it has cleaned up.
    place.signal.addEventListener('abort', () => place[Symbol.dispose]());
    taken.push(place);
  }
  return taken;
}

function ended(given: readonly UploadPlace[]): number {
  return given.filter(({ signal }) => signal.aborted).length;
}

test('one user has 4 places', async () => {
  const [first] = await receiving('a', 4);
  await expect(places.take('a')).rejects.toThrow(
    'a uploads 4 Bundles at the same time already: wait until one of them has ended',
  );
  first?.[Symbol.dispose]();
  await places.take('a');
});

describe('when all 16 places are taken', () => {
  test('uploads that have just begun, and those that are being stored, go on', async () => {
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((user) => receiving(user, 4)));
    clock.advance(9_999);
    await expect(places.take('e')).rejects.toThrow(
      '16 Bundles are being uploaded at the same time already: try again',
    );
    for (const place of taken.flat()) place.end();
    clock.advance(60_000);
    await expect(places.take('e')).rejects.toThrow('try again');
    expect(ended(taken.flat())).toBe(0);
  });

  test('a user with fewer gets one of those who have the most, until they are shared', async () => {
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((user) => receiving(user, 4)));
    clock.advance(10_000);
    for (const user of ['e', 'e', 'f', 'f', 'g', 'g']) await receiving(user, 1);
    clock.advance(10_000);
    for (const user of ['a', 'd', 'e', 'f', 'g']) {
      await expect(places.take(user)).rejects.toThrow('try again');
    }
    expect(taken.map(ended).toSorted((a, b) => a - b)).toEqual([1, 1, 2, 2]);
  });

  test('a user needs 32 KiB/s for each place by which it has more', async () => {
    const [fast, slow] = [await receiving('a', 4), await receiving('b', 4)];
    const others = await Promise.all(['c', 'd', 'e', 'f'].map((user) => receiving(user, 2)));
    clock.advance(10_000);
    for (const place of fast) place.add(10 * 128 * kibibyte);
    for (const [index, place] of slow.entries()) place.add((10 * 128 - index) * kibibyte);
    for (const place of others.flat()) place.add(10 * 64 * kibibyte);
    await receiving('g', 1);
    expect(slow.map(({ signal }) => signal.aborted)).toEqual([false, false, false, true]);
    expect(slow[3]?.signal.reason).toMatchObject({
      status: 503,
      message:
        'all 16 places for uploads are taken, 4 of them by b: this upload brought less than 128 KiB/s, and made place for one of another user. Repeat it over a faster connection, or when fewer uploads run',
    });
    await expect(places.take('h')).rejects.toThrow('try again');
    expect(ended([...fast, ...slow, ...others.flat()])).toBe(1);
  });
});
