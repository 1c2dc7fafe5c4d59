import { listenForStop, throwIfStopped } from '../../../core/platform/stop-signal.ts';
import type { RegistryFlags } from '../../flags/registry-flags.ts';

/**
 * Calls `run` with the directory of a catalog, and then removes the files that it has unpacked, also
 * after Ctrl-C.
 */
export async function withCatalog<T>(
  place: string,
  flags: RegistryFlags,
  run: (dir: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { openCatalog } = await import('../../../catalog/load/index.ts');
  using stop = listenForStop();
  const { signal } = stop;
  const registry = async () =>
    await (await import('../../registry-access.ts')).registryAccess(flags);
  const catalog = await openCatalog(place, { registry, signal });
  try {
    const result = await run(catalog.dir, signal);
    await throwIfStopped(signal);
    return result;
  } finally {
    await catalog.close();
  }
}

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
