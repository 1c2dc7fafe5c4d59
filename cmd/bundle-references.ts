import { bundleResource } from '../api/v1alpha1/index.ts';
import { type KubeClient, liveObject } from '../core/platform/kube/index.ts';
import type { BundleLister } from '../webhooks/index.ts';

/**
 * The Bundles that hold a ConfigMap, by a watch. Whoever saw a Bundle go may delete its ConfigMap
 * before the watch tells of it, so the API server is asked for those that would refuse it.
 */
export function bundleReferences(
  client: Pick<KubeClient, 'get'>,
  watched: (configMapName: string) => readonly string[],
): BundleLister {
  return {
    async bundlesReferencing(configMapName, signal) {
      const names = watched(configMapName);
      const isThere = await Promise.all(names.map((name) => exists(client, name, signal)));
      return names.filter((_, at) => isThere[at]);
    },
  };
}

async function exists(
  client: Pick<KubeClient, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (
    (await liveObject(client, { resource: bundleResource, key: { name } }, signal)) !== undefined
  );
}
