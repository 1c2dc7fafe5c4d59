import { knownGroups } from '../../api/kubernetes-kinds.ts';
import type { ClusterFacts } from '../../core/sdk.ts';

/** Kubernetes as it is of itself, and whatever kinds (`example.com/v1/Thing`) it serves besides. */
export function aCluster(kinds: readonly string[] = []): ClusterFacts {
  const own = knownGroups.flatMap(({ group, namespaced = '', clusterScoped = '' }) => {
    const version = group === '' ? 'v1' : `${group}/v1`;
    const names = `${namespaced} ${clusterScoped}`.split(' ').filter((name) => name !== '');
    return [version, ...names.map((name) => `${version}/${name}`)];
  });
  const apiVersions = [...own, ...kinds].toSorted();
  return { version: 'v1.36.3', apiVersions, systemNamespace: 'rukpak-system' };
}
