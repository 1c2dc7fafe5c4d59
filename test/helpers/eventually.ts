import { setTimeout as delay } from 'node:timers/promises';

/**
 * For what Kubernetes collects or empties by itself: its garbage collector and its namespace
 * controller back off while kinds come and go, and more than two minutes were seen.
 */
export const patiently = { within: 600_000, every: 500 } as const;

/**
 * Tries until `attempt` no longer throws, and returns its value; throws its last error when the
 * time (milliseconds) is over. For what a real cluster does in its own time. The first pauses are
 * short, for what comes at once.
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { within = 180_000, every = 200 } = {},
): Promise<T> {
  const deadline = Date.now() + within;
  for (let pause = Math.min(10, every); ; pause = Math.min(pause * 2, every)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await delay(pause);
    }
  }
}
