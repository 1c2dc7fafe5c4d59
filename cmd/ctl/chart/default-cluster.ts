import { knownGroups } from '../../../api/kubernetes-kinds.ts';
import type { ClusterFacts } from '../../../core/sdk.ts';

/** What charts are rendered for where nobody says for what. */
const defaultKubeVersion = 'v1.36.0';

/** Of groups that serve more than version v1. */
const moreVersions: Readonly<Record<string, readonly string[]>> = { autoscaling: ['v2'] };

/** What every API server of that version serves: versions and kinds of Kubernetes itself. */
function defaultApiVersions(): readonly string[] {
  return knownGroups
    .filter(({ group }) => group !== 'core.rukpak.io')
    .flatMap(({ group, namespaced = '', clusterScoped = '' }) => {
      const kinds = `${namespaced} ${clusterScoped}`.split(' ').filter((kind) => kind !== '');
      return ['v1', ...(moreVersions[group] ?? [])].flatMap((version) => {
        const groupVersion = group === '' ? version : `${group}/${version}`;
        return [groupVersion, ...kinds.map((kind) => `${groupVersion}/${kind}`)];
      });
    });
}

export interface OfflineClusterOptions {
  readonly kubeVersion?: string;
  /** Besides those of Kubernetes itself. */
  readonly apiVersions?: readonly string[];
}

/** What classes are told of the cluster where there is none. */
export function offlineCluster({
  kubeVersion = defaultKubeVersion,
  apiVersions = [],
}: OfflineClusterOptions): ClusterFacts {
  return {
    version: kubeVersion,
    apiVersions: [...new Set([...defaultApiVersions(), ...apiVersions])].toSorted(),
    systemNamespace: 'rukpak-system',
  };
}
