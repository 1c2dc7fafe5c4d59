import { OverdueError } from './in-time.ts';

/**
 * What a call rejects with; undefined where it does not.
 * @throws OverdueError where it has not settled: that is no answer.
 */
export async function thrownBy(
  run: () => Promise<unknown>,
): Promise<{ error: unknown } | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof OverdueError) throw error;
    return { error };
  }
}
