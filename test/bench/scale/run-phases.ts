import { CoreProcess } from '../core-process.ts';
import { AppWatch } from './app-watch.ts';
import { idle, resync } from './at-rest.ts';
import type { Bench } from './bench.ts';
import { install } from './install.ts';
import type { Outcome, Phase, Scale } from './phase.ts';
import { remove } from './remove.ts';
import { repairDeleted, repairEdited } from './repair.ts';
import { restart } from './restart.ts';
import { update } from './update.ts';

/** In order; each phase starts with the result of the previous ones. */
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

export const phaseNames: readonly string[] = [...phases.keys()];

/**
 * Runs phases with a new process that has an empty store; of images that were pushed before. Those
 * which are not wanted are left out.
 */
export async function runPhases(
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
