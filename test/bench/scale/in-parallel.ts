/** Runs a task for each item, some at once. */
export async function inParallel<T>(
  items: readonly T[],
  task: (item: T) => Promise<unknown>,
  width = 16,
): Promise<void> {
  const rest = items.values();
  const lane = async (): Promise<void> => {
    for (const item of rest) await task(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
