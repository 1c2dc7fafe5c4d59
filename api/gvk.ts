import type { KubernetesObject } from './meta.ts';

export interface GroupVersionKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function gvkOf(object: Pick<KubernetesObject, 'apiVersion' | 'kind'>): GroupVersionKind {
  const { apiVersion, kind } = object;
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return { group, version: apiVersion.slice(slash + 1), kind };
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Omit<GroupVersionKind, 'kind'>): string {
  return group === '' ? version : `${group}/${version}`;
}
