import { afterAll, beforeAll, test } from 'vitest';
import { firstSeed, given, Sequences } from '../helpers/deletion-property/sequences.ts';

/*
 * Random sequences of what users do, on the real control plane. A failure names its seed and prints what was
 * done: RUKPAK_PROPERTY_SEED repeats it, RUKPAK_PROPERTY_SEQUENCES and RUKPAK_PROPERTY_STEPS ask for more.
 */
let sequences: Sequences;

beforeAll(async () => {
  sequences = await Sequences.start();
});

afterAll(async () => {
  await sequences?.stop();
});

const timeout = 3_600_000;
const [count, steps] = [given('SEQUENCES') ?? 1, given('STEPS') ?? 60];

test(
  `nothing of a user's is lost, whatever users do (from seed ${firstSeed})`,
  { timeout },
  async () => await sequences.run({ from: firstSeed, count, steps }),
);

// The other ten are in more-deletion-property.test.ts, which runs beside this file.
test(
  `nor is it in long sequences (from seed ${firstSeed})`,
  { timeout, tags: ['long'] },
  async () => await sequences.run({ from: firstSeed, count: 10, steps: 200 }),
);
