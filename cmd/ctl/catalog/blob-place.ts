/** Puts file and line in front of what a command says of a blob: opm's texts name neither. */
export function withPlace<Args extends readonly unknown[]>(
  action: (...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await action(...args);
    } catch (error) {
      const { placedError } = await import('../../../catalog/blobs/index.ts');
      throw placedError(error);
    }
  };
}
