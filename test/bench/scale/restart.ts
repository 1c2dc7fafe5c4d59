import { setTimeout as delay } from 'node:timers/promises';
import { valueOf } from '../../helpers/exposition.ts';
import { rounded } from '../report.ts';
import { measurePhase, type Outcome, type Scale } from './phase.ts';

/** Milliseconds between two checks of the new process's progress. */
const look = 50;

/** Restarts the process as an upgrade does, and waits until it has reconciled every app. */
export async function restart(scale: Scale): Promise<Outcome> {
  const { core, apps } = scale;
  return await measurePhase(scale, async (signal) => {
    const stopped = performance.now();
    await core.end('SIGTERM');
    const launched = performance.now();
    await core.launch();
    await core.ready();
    const ready = performance.now();
    await untilReconciled(scale, 1, signal);
    const acting = performance.now();
    await untilReconciled(scale, apps.length, signal);
    const since = (moment: number): number => rounded((moment - launched) / 1000, 2);
    return {
      's to stop': rounded((launched - stopped) / 1000, 2),
      's to ready': since(ready),
      's to first reconcile': since(acting),
      's to all': since(performance.now()),
    };
  });
}

async function untilReconciled(
  { core, token }: Scale,
  count: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const metrics = await core.metrics(token);
    const labels = { controller: 'bundledeployment', result: 'success' };
    if (valueOf(metrics, 'controller_runtime_reconcile_total', labels) >= count) return;
    await delay(look, undefined, { signal });
  }
}
