import { parseArgs } from 'node:util';
import { installInChaos } from '../chaos/chaos.ts';
import { CoreProcess } from '../core-process.ts';
import { report } from '../report.ts';
import { AppWatch } from './app-watch.ts';
import { appNames, pushApps } from './apps.ts';
import { idle, resync } from './at-rest.ts';
import { type Bench, startBench } from './bench.ts';
import { install } from './install.ts';
import type { Outcome, Phase, Scale } from './phase.ts';
import { remove } from './remove.ts';
import { repairDeleted, repairEdited } from './repair.ts';
import { reportPhases } from './report-phases.ts';
import { restart } from './restart.ts';
import { update } from './update.ts';

/** In their order; each finds what those before it leave. */
const phases: ReadonlyMap<string, Phase> = new Map([
  ['install', install],
  ['update', update],
  ['idle', idle],
  ['resync', resync],
  ['deleted', repairDeleted],
  ['edited', repairEdited],
  ['restart', restart],
  ['delete', remove],
]);

/** Always run: there is nothing to measure without the first, and no next run without the last. */
const frame = new Set(['install', 'delete']);

/**
 * Many apps on one control plane: what it takes to install them all at once, and what they cost
 * afterwards. Each run has a new process with an empty store.
 */
export async function benchScale(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      apps: { type: 'string', default: '100' },
      runs: { type: 'string', default: '1' },
      chaos: { type: 'boolean', default: false },
      only: { type: 'string', default: [...phases.keys()].join(',') },
    },
  });
  const wanted = new Set(values.only.split(','));
  const apps = appNames(Number(values.apps));
  await using bench = await startBench();
  if (values.chaos) {
    report(`scale ${apps.length} --chaos`, [await installInChaos(bench, apps)]);
    return;
  }
  await pushVersions(bench, apps);
  const runs: ReadonlyMap<string, Outcome>[] = [];
  for (let run = 0; run < Number(values.runs); run += 1) {
    runs.push(await runPhases(bench, apps, wanted));
  }
  reportPhases(`scale ${apps.length}`, runs);
}

async function pushVersions({ cluster }: Bench, apps: readonly string[]): Promise<void> {
  const { registry } = cluster;
  for (const version of [1, 2]) await pushApps(apps, { registry, version });
}

async function runPhases(
  bench: Bench,
  apps: readonly string[],
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Outcome>> {
  // With a lease, as in a real cluster.
  await using core = await CoreProcess.start(bench.cluster, ['--leader-elect']);
  const watch = await AppWatch.start(bench.kube.client);
  const scale: Scale = { ...bench, core, apps, watch };
  const outcomes = new Map<string, Outcome>();
  try {
    for (const [name, phase] of phases) {
      if (!wanted.has(name) && !frame.has(name)) continue;
      process.stderr.write(`${name}\n`);
      outcomes.set(name, await phase(scale));
    }
  } catch (error) {
    process.stderr.write(await core.log());
    throw error;
  } finally {
    watch.stop();
  }
  return outcomes;
}
