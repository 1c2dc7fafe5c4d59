import type { Resource } from '../../core/platform/kube/index.ts';
import type { ClusterFlags } from './cluster-flags.ts';

/** A shell does not wait longer; milliseconds. */
const patience = 3_000;

/** The names of all objects of a kind, for completion. */
export async function namesOf(resource: Resource, flags: ClusterFlags): Promise<readonly string[]> {
  const { withCluster } = await import('./cluster.ts');
  return await withCluster(flags, async ({ client }) => {
    const { items } = await client.list(resource, { signal: AbortSignal.timeout(patience) });
    return items.flatMap(({ metadata }) => metadata.name ?? []);
  });
}
