// @module-tag long
import { afterAll, beforeAll, test } from 'vitest';
import { firstSeed, Sequences } from '../helpers/deletion-property/sequences.ts';

let sequences: Sequences;

beforeAll(async () => {
  sequences = await Sequences.start();
});

afterAll(async () => {
  await sequences?.stop();
});

const from = firstSeed + 10;

// The first ten are in deletion-property.test.ts.
test(
  `nothing of a user's is lost in ten more long sequences (from seed ${from})`,
  { timeout: 3_600_000 },
  async () => await sequences.run({ from, count: 10, steps: 200 }),
);
