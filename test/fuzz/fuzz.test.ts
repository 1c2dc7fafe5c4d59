// @module-tag long
// @module-tag process
import { expect, test } from 'vitest';
import { attack } from './campaign/campaign.ts';
import { corpusFolder, keep } from './corpus.ts';
import { useReference } from './reference/reference.ts';
import { targets, targetsModule } from './targets/index.ts';

/** Milliseconds for each: two minutes for all, where a nightly run of `npm run fuzz` takes its time. */
const time = 5_000;
/** The same inputs each time; `npm run fuzz` tries others. */
const seed = 20_260_101;

test.for(targets)('$name withstands five seconds of inputs', async ({ name }) => {
  await useReference();
  const found: string[] = [];
  const inputs = await attack({
    module: targetsModule,
    target: name,
    time,
    seed,
    onFinding: async ({ problem, input }) => {
      found.push(`${problem}: ${await keep(name, input, corpusFolder)}`);
    },
  });
  expect(found).toEqual([]);
  expect(inputs).toBeGreaterThan(0);
});
