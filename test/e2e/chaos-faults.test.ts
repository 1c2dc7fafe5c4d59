// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faults } from '../bench/chaos/faults/index.ts';
import { type Round, runRounds } from '../bench/chaos/rounds.ts';
import { inWorld } from '../bench/chaos/world/world.ts';
import { type Bench, openBench } from '../bench/scale/bench.ts';
import { plane } from '../helpers/plane.ts';

/** Those that are over soon; `npm run chaos` has its time for all, and for each many times. */
const brief = [
  'kill-core',
  'kill-etcd',
  'gone-410',
  'stolen-lease',
  'registry-429',
  'moved-tags',
].concat(['full-disk', 'churn']);

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(plane.clusterDir);
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test('after each fault nothing is lost, nothing is there twice, and nothing is left over', async () => {
  const rounds: Round[] = [];
  await inWorld(bench, { apps: 8, foreign: 50 }, async (world) => {
    const chosen = faults.filter(
      (fault) => brief.includes(fault.name) && fault.unavailable?.(world) === undefined,
    );
    await runRounds(world, {
      faults: chosen,
      kills: chosen.length,
      seed: 20_260_101,
      // Three rounds that fail are told before the time of the test is over.
      patience: 150_000,
      onRound: (round) => void rounds.push(round),
    });
  });
  expect(rounds.flatMap(({ violations }) => violations)).toEqual([]);
  expect(rounds.length).toBeGreaterThanOrEqual(brief.length - 1);
});
