import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { appNames, pushApps } from './apps.ts';
import { startBench } from './bench.ts';
import type { Outcome } from './phase.ts';
import { preload } from './preload.ts';
import { reportPhases } from './report-phases.ts';
import { runPhases } from './run-phases.ts';

const phases = new Set(['idle', 'restart']);
/** Milliseconds for the control plane's own controllers to process new objects. */
const settling = 60_000;

/** The same phases on an empty cluster, and on one full of foreign objects. */
export async function benchCrowd(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      apps: { type: 'string', default: '100' },
      objects: { type: 'string', default: '25000' },
      definitions: { type: 'string', default: '1000' },
    },
  });
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const apps = appNames(Number(values.apps));
  await using bench = await startBench();
  await pushApps(apps, { registry: bench.cluster.registry, version: 1 });
  const alone = await runPhases(bench, apps, phases);
  const crowd = { objects: Number(values.objects), definitions: Number(values.definitions) };
  await preload(bench.kube.client, crowd, say);
  await delay(settling);
  const crowded = await runPhases(bench, apps, phases);
  const name = `crowd ${crowd.objects} ${crowd.definitions}`;
  reportPhases(name, [sideBySide({ alone, crowded })]);
}

function sideBySide(
  runs: Readonly<Record<string, ReadonlyMap<string, Outcome>>>,
): ReadonlyMap<string, Outcome> {
  const outcomes = Object.entries(runs).flatMap(([run, phases]) =>
    [...phases].map(([name, outcome]) => [`${name} ${run}`, outcome] as const),
  );
  // Each phase beside itself.
  return new Map(outcomes.toSorted(([a], [b]) => a.localeCompare(b)));
}
