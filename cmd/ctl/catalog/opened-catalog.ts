import type { RegistryFlags } from '../../flags/registry-flags.ts';

/** Calls `run` with the directory of a catalog, and then removes the files that it has unpacked. */
export async function withCatalog<T>(
  place: string,
  flags: RegistryFlags,
  run: (dir: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { openCatalog } = await import('../../../catalog/load/index.ts');
  const { signal } = new AbortController();
  const registry = async () =>
    await (await import('../../registry-access.ts')).registryAccess(flags);
  const catalog = await openCatalog(place, { registry, signal });
  try {
    return await run(catalog.dir, signal);
  } finally {
    await catalog.close();
  }
}
