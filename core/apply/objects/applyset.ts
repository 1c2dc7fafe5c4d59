import { createHash } from 'node:crypto';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { GroupKind } from './object-id.ts';

/** Keys of KEP-3659, on members and on the parent. */
export const applySetKey = {
  partOf: label.partOf,
  id: 'applyset.kubernetes.io/id',
  groupKinds: 'applyset.kubernetes.io/contains-group-kinds',
  tooling: 'applyset.kubernetes.io/tooling',
} as const;

/** Who manages the sets: `<tool>/<version of its way of writing them>`. */
export const applySetTooling = 'rukpak/v1alpha1';

interface ApplySetParentRef extends GroupKind {
  readonly name: string;
  /** Empty for a cluster-scoped parent. */
  readonly namespace: string;
}

/** The set's ID by KEP-3659: it is derived, so it can be checked and never be stolen. */
export function applySetID(parent: ApplySetParentRef): string {
  const identity = `${parent.name}.${parent.namespace}.${parent.kind}.${parent.group}`;
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
}

/** The ID of the set that a BundleDeployment is the parent of. */
export function deploymentApplySetID(name: string): string {
  return applySetID({ ...bundleDeploymentResource, name, namespace: '' });
}

/** `Kind.group` list of the parent's annotation, sorted and without repeats. */
export function formatGroupKinds(kinds: Iterable<GroupKind>): string {
  const names = new Set<string>();
  for (const { group, kind } of kinds) names.add(group === '' ? kind : `${kind}.${group}`);
  return [...names].sort().join(',');
}

/** Reads the annotation; entries that name no kind are skipped. */
export function parseGroupKinds(list: string | undefined): readonly GroupKind[] {
  return (list ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => /^[A-Za-z]/.test(entry))
    .map((entry) => {
      const dot = entry.indexOf('.');
      return dot === -1
        ? { kind: entry, group: '' }
        : { kind: entry.slice(0, dot), group: entry.slice(dot + 1) };
    });
}
