import { knownGroups } from '../permissions/known-kinds.ts';

/** What charts are rendered for where nobody says for what. */
export const defaultKubeVersion = 'v1.36.0';

/** Of groups that serve more than version v1. */
const moreVersions: Readonly<Record<string, readonly string[]>> = { autoscaling: ['v2'] };

/** What every API server of that version serves: versions and kinds of Kubernetes itself. */
export function defaultApiVersions(): readonly string[] {
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
