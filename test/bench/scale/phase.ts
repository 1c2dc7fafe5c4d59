import { type Row, rounded } from '../report.ts';
import type { AppWatch, Reached } from './app-watch.ts';
import type { Cost, Measured } from './measure.ts';
import { measureCost } from './measure.ts';
import type { RequestCounts } from './requests.ts';

export interface Scale extends Measured {
  readonly apps: readonly string[];
  readonly watch: AppWatch;
}

/** One phase of one run. */
export interface Outcome {
  readonly row: Row;
  readonly byVerb: RequestCounts;
}

export type Phase = (scale: Scale) => Promise<Outcome>;

/** Maximum milliseconds of a phase, so that a hanging run ends. */
const limit = 1_800_000;

/** Measures work that gives the times which its phase is about. */
export async function measurePhase(
  scale: Scale,
  work: (signal: AbortSignal) => Promise<Row>,
): Promise<Outcome> {
  let times: Row = {};
  const cost = await measureCost(scale, async () => {
    times = await work(AbortSignal.any([AbortSignal.timeout(limit), scale.core.failure]));
  });
  return { row: { ...times, ...costRow(cost, scale.apps.length) }, byVerb: cost.byVerb };
}

function costRow(cost: Cost, apps: number): Row {
  const { managerCpu, childrenCpu, serversCpu, memory } = cost;
  return {
    'CPU s manager': rounded(managerCpu / 1000, 2),
    'CPU s children': rounded(childrenCpu / 1000, 2),
    'CPU ms/app': rounded((managerCpu + childrenCpu) / apps),
    ...Object.fromEntries(
      Object.entries(serversCpu).map(([name, cpu]) => [`CPU s ${name}`, rounded(cpu / 1000, 1)]),
    ),
    'MiB manager': rounded(memory.process),
    'MiB tree': rounded(memory.tree),
    'loop ms p99': rounded(cost.loopP99),
    'loop ms max': rounded(cost.loopMax),
    requests: cost.requests,
    writes: cost.writes,
    'requests/app': rounded(cost.requests / apps, 2),
    watches: cost.watches,
    leases: cost.leases,
  };
}

/** Starts something with all apps and waits until all are installed in that generation. */
export async function untilInstalled(
  { watch, apps }: Scale,
  generation: number,
  { start, signal }: { readonly start: () => Promise<void>; readonly signal: AbortSignal },
): Promise<Row> {
  const since = performance.now();
  await start();
  const applied = performance.now() - since;
  await watch.until(() => watch.reached(generation, 'healthy').length === apps.length, signal);
  const healthy = watch.reached(generation, 'healthy');
  const times = healthy.map(({ took }) => took / 1000).toSorted((a, b) => a - b);
  const all = Math.max(...healthy.map(({ at }) => (at - since) / 1000));
  return {
    's to apply': rounded(applied / 1000, 2),
    ...moments('Installed', watch.reached(generation, 'installed'), since),
    ...moments('Healthy', healthy, since),
    'apps/s': rounded(apps.length / all),
    's p50': rounded(quantile(times, 0.5), 2),
    's p99': rounded(quantile(times, 0.99), 2),
  };
}

/** Seconds from the start of the phase until so many apps were there. */
function moments(condition: string, reached: readonly Reached[], since: number): Row {
  const sorted = reached.map(({ at }) => (at - since) / 1000).toSorted((a, b) => a - b);
  const at = (share: number): number => rounded(quantile(sorted, share), 2);
  return {
    [`${condition} s first`]: at(0),
    [`${condition} s median`]: at(0.5),
    [`${condition} s p99`]: at(0.99),
    [`${condition} s all`]: at(1),
  };
}

/** Percentile of sorted values, by nearest rank. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
