import type { ContentKey } from '../contracts/store.ts';
import type { DiskStore } from './disk-store.ts';

/**
 * Removes the archives of Bundles that are gone, and returns their names. `live` is asked after
 * the archives were listed: what a Bundle made in between stores is not looked at.
 */
export async function collectGarbage(
  store: Pick<DiskStore, 'names' | 'delete'>,
  live: () => Promise<readonly Pick<ContentKey, 'name'>[]>,
): Promise<readonly string[]> {
  const stored = await store.names();
  const names = new Set((await live()).map(({ name }) => name));
  const removed = stored.filter((name) => !names.has(name));
  for (const name of removed) await store.delete(name);
  return removed;
}
