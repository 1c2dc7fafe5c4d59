import { layoutOf } from '../layout.ts';
import type { ProcessRecord } from '../processes.ts';
import { readState, writeState } from '../state.ts';

/** Ends a process whenever the cluster of this folder is stopped, before the cluster. */
export async function endWithCluster(dir: string, companion: ProcessRecord): Promise<void> {
  const layout = layoutOf(dir);
  const state = await readState(layout);
  if (state === undefined) throw new Error(`no cluster is up in ${dir}`);
  await writeState(layout, { ...state, companions: [...state.companions, companion] });
}
