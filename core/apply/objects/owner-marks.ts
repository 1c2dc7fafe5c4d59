import { createHash } from 'node:crypto';
import { gvkOf } from '../../../api/gvk.ts';
import { mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { generatedFor } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import { type ObjectKey } from '../../platform/kube/index.ts';
import type { GroupKind } from './object-id.ts';

/**
 * The mark that core puts on an object: `<deployment's UID>:<group>/<Kind>:<namespace>/<name>`.
 * Everything after the UID equals the object's own identity. A copy under another name, kind or
 * namespace has a mark that does not match, so no deployment may delete it.
 */
export function trackingID(
  deploymentUID: string,
  { group, kind }: GroupKind,
  { namespace = '', name }: ObjectKey,
): string {
  return `${deploymentUID}:${group}/${kind}:${namespace}/${name}`;
}

/** Whether it has a mark, its own or a copied one. */
export function isMarked({ metadata }: KubernetesObject): boolean {
  return Object.hasOwn(mapOf(metadata.annotations), annotation.trackingID);
}

/** UID of the deployment for which core made exactly this object; undefined for a copy. */
export function trackedUID(object: KubernetesObject): string | undefined {
  const mark = stringAt(object.metadata.annotations, annotation.trackingID);
  const uid = mark?.slice(0, mark.indexOf(':'));
  if (uid === undefined || uid === '') return undefined;
  const { namespace, name = '' } = object.metadata;
  return mark === trackingID(uid, gvkOf(object), { namespace, name }) ? uid : undefined;
}

export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** True for a controller reference to the BundleDeployment of this name. */
export function isDeployment(reference: OwnerReference, name: string): boolean {
  return (
    reference.kind === bundleDeploymentResource.kind &&
    reference.name === name &&
    reference.apiVersion.startsWith(`${bundleDeploymentResource.group}/`)
  );
}

/** The deployment that an object's labels name as its owner. */
export function labelledOwner(object: KubernetesObject): string | undefined {
  const { labels } = object.metadata;
  // Objects with which a deployment unpacks its content are not its content, and are never pruned.
  if (generatedFor(object) !== undefined) return undefined;
  if (stringAt(labels, label.ownerKind) !== bundleDeploymentResource.kind) return undefined;
  return stringAt(labels, label.ownerName) || undefined;
}

/**
 * Whether core made exactly this object for exactly this deployment: only then core may delete it.
 * False for a copy with core's labels, and for objects of an earlier deployment of that name.
 * RukPak's objects have the deployment's ownerReference, by which the garbage collector would
 * delete them.
 */
export function belongsTo(object: KubernetesObject, { metadata }: BundleDeployment): boolean {
  const { name = '', uid = '' } = metadata;
  if (labelledOwner(object) !== name) return false;
  const controller = controllerOf(object);
  if (controller !== undefined && !isDeployment(controller, name)) return false;
  return (isMarked(object) ? trackedUID(object) : controller?.uid) === uid;
}

/** True for a live object that a hook run created and no apply has taken over since. */
export function isHookObject({ metadata }: KubernetesObject): boolean {
  return Object.hasOwn(mapOf(metadata.annotations), annotation.hookRun);
}

/** Label and annotation keys of KEP-3659, on members and on the parent. */
export const applySetKey = {
  partOf: label.partOf,
  id: 'applyset.kubernetes.io/id',
  groupKinds: 'applyset.kubernetes.io/contains-group-kinds',
  tooling: 'applyset.kubernetes.io/tooling',
} as const;

/** The tool that manages the sets: `<tool>/<version of its format>`. */
export const applySetTooling = 'rukpak/v1alpha1';

interface ApplySetParentRef extends GroupKind {
  readonly name: string;
  /** Empty for a cluster-scoped parent. */
  readonly namespace: string;
}

/** The set's ID by KEP-3659, a hash of the parent's identity. */
export function applySetID(parent: ApplySetParentRef): string {
  const identity = `${parent.name}.${parent.namespace}.${parent.kind}.${parent.group}`;
  return `applyset-${createHash('sha256').update(identity).digest('base64url')}-v1`;
}

/** The ID of the set whose parent is a BundleDeployment. */
export function deploymentApplySetID(name: string): string {
  return applySetID({ ...bundleDeploymentResource, name, namespace: '' });
}

/** `Kind.group` of each kind, sorted and without duplicates. */
export function groupKindNames(kinds: Iterable<GroupKind>): readonly string[] {
  const names = new Set<string>();
  for (const { group, kind } of kinds) names.add(group === '' ? kind : `${kind}.${group}`);
  return [...names].sort();
}

/** The list of the parent's annotation. */
export function formatGroupKinds(kinds: Iterable<GroupKind>): string {
  return groupKindNames(kinds).join(',');
}

/** Reads the annotation; skips invalid entries. */
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
