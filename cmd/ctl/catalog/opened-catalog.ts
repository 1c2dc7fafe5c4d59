import type { RegistryFlags } from '../../registry-flags.ts';

/** Runs with the directory of a catalog, and removes what was unpacked for it. */
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
