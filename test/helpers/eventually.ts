import { setTimeout as delay } from 'node:timers/promises';
import { noting, Reads } from './changes.ts';

/**
 * For what Kubernetes collects or empties by itself: its garbage collector and its namespace
 * controller back off while kinds come and go, and more than two minutes were seen.
 */
export const patiently = { within: 600_000, every: 500 } as const;

/** Between two attempts, however much changes (milliseconds). */
const shortest = 10;

/** Between two attempts that nothing tells of a change (milliseconds). */
const longest = { watched: 500, unwatched: 200 };

/**
 * Tries until `attempt` no longer throws, and returns its value; throws its last error when the
 * time (milliseconds) is over. It is tried again as soon as something changes that it has read
 * through `Kubectl`, and now and then for what no watch tells; where it has read nothing, the first
 * pauses are short, for what comes at once. `every` replaces the longest pause and these.
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { within = 180_000, every }: { readonly within?: number; readonly every?: number } = {},
): Promise<T> {
  const deadline = Date.now() + within;
  for (let unwatched = shortest; ; unwatched *= 2) {
    const read = new Reads();
    try {
      return await noting(read, attempt);
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await delay(Math.min(shortest, every ?? shortest));
      const pause = read.isEmpty ? Math.min(unwatched, longest.unwatched) : longest.watched;
      await read.changed(every ?? pause);
    }
  }
}
