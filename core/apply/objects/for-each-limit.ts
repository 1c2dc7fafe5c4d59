/**
 * Runs `work` for every item, at most `limit` at a time. Rejects with the first error after every
 * started item has ended.
 */
export async function forEachLimit<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const runner = async (): Promise<void> => {
    for (const item of queue) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const runners = Array.from({ length: Math.min(limit, items.length) }, runner);
  const results = await Promise.allSettled(runners);
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
  }
}
