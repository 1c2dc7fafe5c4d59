// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installInChaos } from '../bench/chaos/chaos.ts';
import { appNames } from '../bench/scale/apps.ts';
import { type Bench, openBench } from '../bench/scale/bench.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(plane.clusterDir);
});

afterAll(async () => {
  const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  await kubectl.deleteAll('bundledeployments');
  await bench[Symbol.asyncDispose]();
});

/** Longer than the chaos itself may last. */
const timeout = 2_000_000;

test('process killed, API server killed, network cut: thirty are installed once, none is lost', {
  timeout,
}, async () => {
  const outcome = await installInChaos(bench, appNames(30));
  console.log(`chaos: ${JSON.stringify(outcome)}`);
  const shares = Object.entries(outcome).filter(([column]) => column.startsWith('%'));
  const amidWork = shares.filter(([, share]) => Number(share) < 100);
  // Fewer show little. All would be too many: what is done behind a cut network shows at once when
  // the network is back, and may be the rest.
  expect(amidWork.length).toBeGreaterThanOrEqual(4);
  expect(outcome['starts']).toBeGreaterThanOrEqual(4);
});
