import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../helpers/seeded-random.ts';
import { between, type Fault } from './faults/fault.ts';
import { type Differences, differences } from './world/invariant.ts';
import type { World } from './world/world.ts';

export interface Round {
  readonly fault: string;
  /** Seconds from the end of the fault to the moment at which everything was as wanted. */
  readonly recovery: number;
  /** Invariants that were violated. */
  readonly violations: readonly string[];
}

export interface RoundsOptions {
  readonly faults: readonly Fault[];
  readonly kills: number;
  readonly seed: number;
  /** Milliseconds that a recovery may take. */
  readonly patience: number;
  onRound(round: Round): void;
}

/** Rounds with violations after which a run ends: more rounds would show the same. */
const maxViolated = 3;
/** Maximum milliseconds until users change apps, and until the fault strikes, in either order. */
const longestDelay = 1_500;

/**
 * Has people change apps, breaks something meanwhile, and waits until everything is as wanted; again
 * and again. Every fault has its turn before one has another.
 */
export async function runRounds(world: World, options: RoundsOptions): Promise<readonly Round[]> {
  const random = seededRandom(options.seed);
  const rounds: Round[] = [];
  const first = await settle(world, options.patience);
  if (first.length > 0) throw new Error(`before any fault: ${first.slice(0, 5).join('; ')}`);
  let turns: Fault[] = [];
  while (rounds.length < options.kills) {
    if (turns.length === 0) turns = shuffled(options.faults, random);
    const fault = turns.pop();
    if (fault === undefined) break;
    const round = await runRound(world, fault, { random, patience: options.patience });
    rounds.push(round);
    options.onRound(round);
    if (rounds.filter(({ violations }) => violations.length > 0).length >= maxViolated) break;
  }
  return rounds;
}

async function runRound(
  world: World,
  fault: Fault,
  { random, patience }: { readonly random: () => number; readonly patience: number },
): Promise<Round> {
  const over = new AbortController();
  const churning = keepChurning(world, random, over.signal);
  const [work, strike] = [between(random, 0, longestDelay), between(random, 0, longestDelay)];
  const changing = delay(work).then(() => world.workload.change(random));
  await delay(strike);
  await fault.strike(world, random);
  await world.parts.startEnded();
  const start = performance.now();
  await changing;
  over.abort();
  await churning;
  const violations = await settle(world, patience);
  const recovery = (performance.now() - start) / 1000;
  if (violations.length > 0) await acceptAsItIs(world);
  return { fault: fault.name, recovery, violations };
}

/** Foreign objects change one after another while a round lasts. */
async function keepChurning(
  { foreign }: World,
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await foreign.churn(random, { share: 0.02, width: 1 });
    await delay(100);
  }
}

/** Waits until nothing is missing; returns what is still missing, and permanent violations. */
async function settle(world: World, patience: number): Promise<readonly string[]> {
  const { bench, workload, foreign, core } = world;
  const observed = { client: bench.kube.client, workload, foreign, archives: core.archives };
  const deadline = performance.now() + patience;
  let last: Differences = { missing: [], wrong: [] };
  do {
    // The API server may be away.
    last = await differences(observed).catch((error: unknown) => ({
      missing: [String(error)],
      wrong: [],
    }));
    if (last.wrong.length > 0 || last.missing.length === 0) return last.wrong;
    await delay(250);
  } while (performance.now() < deadline);
  return last.missing;
}

/** Reports each violation once. */
async function acceptAsItIs({ workload }: World): Promise<void> {
  for (const app of workload.apps) {
    app.generation = Number.MAX_SAFE_INTEGER / 2;
    app.runs = Math.max(app.runs, workload.runsSeen(app));
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
