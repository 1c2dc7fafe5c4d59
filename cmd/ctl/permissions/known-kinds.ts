import type { GroupVersionKind } from '../../../api/gvk.ts';
import { type KnownGroup, knownGroups } from '../../../api/kubernetes-kinds.ts';
import type { Discovery, Resource } from '../../../core/platform/kube/index.ts';

/** Kinds that core creates for certificates of provider cert-manager. */
const certManager: KnownGroup = { group: 'cert-manager.io', namespaced: 'Certificate Issuer' };

interface KnownKind {
  readonly plural: string;
  readonly namespaced: boolean;
}

const known = new Map<string, KnownKind>(
  [...knownGroups, certManager].flatMap(({ group, namespaced = '', clusterScoped = '' }) => [
    ...kindsOf(group, namespaced, true),
    ...kindsOf(group, clusterScoped, false),
  ]),
);

function kindsOf(group: string, kinds: string, namespaced: boolean): [string, KnownKind][] {
  return kinds
    .split(' ')
    .filter((kind) => kind !== '')
    .map((kind) => [`${group}|${kind}`, { plural: pluralOf(kind), namespaced }]);
}

function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (name === 'endpoints') return name;
  if (name.endsWith('s')) return `${name}es`;
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/** Resolves the kinds of Kubernetes without requests; asks `next` about all others. */
export function knownKinds(next?: Discovery): Discovery {
  return {
    async resourceFor(gvk, signal) {
      return resourceOf(gvk) ?? (await next?.resourceFor(gvk, signal));
    },
    async resourceForGroupKind(group, kind, signal) {
      // Permissions do not depend on the version.
      const found = resourceOf({ group, kind, version: '' });
      return found ?? (await next?.resourceForGroupKind(group, kind, signal));
    },
    invalidate: () => next?.invalidate(),
  };
}

function resourceOf(gvk: GroupVersionKind): Resource | undefined {
  const kind = known.get(`${gvk.group}|${gvk.kind}`);
  return kind && { ...gvk, ...kind };
}
