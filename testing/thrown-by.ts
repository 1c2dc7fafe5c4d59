/** What a call rejects with; undefined where it does not. */
export async function thrownBy(
  run: () => Promise<unknown>,
): Promise<{ error: unknown } | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return { error };
  }
}
