/** Prefixes errors about a blob with its file and line, because opm's texts contain neither. */
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
