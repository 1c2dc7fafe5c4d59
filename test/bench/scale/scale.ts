import { parseArgs } from 'node:util';
import { installInChaos } from '../chaos/chaos.ts';
import { report } from '../report.ts';
import { appNames, pushApps } from './apps.ts';
import { type Bench, startBench } from './bench.ts';
import type { Outcome } from './phase.ts';
import { reportPhases } from './report-phases.ts';
import { phaseNames, runPhases } from './run-phases.ts';

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
      'controller-rate': { type: 'string' },
      only: { type: 'string', default: phaseNames.join(',') },
    },
  });
  const wanted = new Set(values.only.split(','));
  const apps = appNames(Number(values.apps));
  const rate = values['controller-rate'];
  await using bench = await startBench(rate === undefined ? undefined : Number(rate));
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
