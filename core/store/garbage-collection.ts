import type { DiskStore } from './disk-store.ts';
import type { OnLeftover } from './temporary-files.ts';

/**
 * Removes the archives of Bundles that are gone, as far as it can. `live` is asked after the
 * archives were listed: what a Bundle made in between stores is not looked at.
 */
export async function collectGarbage(
  store: Pick<DiskStore, 'names' | 'delete'>,
  live: () => readonly string[],
  onLeftover: OnLeftover,
): Promise<void> {
  try {
    const stored = await store.names();
    const names = new Set(live());
    for (const name of stored) {
      if (!names.has(name)) await store.delete(name).catch(onLeftover);
    }
  } catch (error) {
    onLeftover(error);
  }
}
