import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { gvkOf, type ObjectKey } from '../../platform/kube/index.ts';
import { mapOf, stringAt } from '../fields/json-fields.ts';
import type { GroupKind } from './group-kind.ts';

/**
 * The mark that core puts on an object: `<deployment's UID>:<group>/<Kind>:<namespace>/<name>`, all
 * of it but the UID as the object itself has it. A copy under another name, kind or namespace carries
 * a mark that does not fit, and so is nobody's to delete.
 */
export function trackingID(
  deploymentUID: string,
  { group, kind }: GroupKind,
  { namespace = '', name }: ObjectKey,
): string {
  return `${deploymentUID}:${group}/${kind}:${namespace}/${name}`;
}

/** Whether it carries a mark, be it a copied one. */
export function isMarked({ metadata }: KubernetesObject): boolean {
  return Object.hasOwn(mapOf(metadata.annotations), annotation.trackingID);
}

/** UID of the deployment for which core made this very object; undefined for a copy. */
export function trackedUID(object: KubernetesObject): string | undefined {
  const mark = stringAt(object.metadata.annotations, annotation.trackingID);
  const uid = mark?.slice(0, mark.indexOf(':'));
  if (uid === undefined || uid === '') return undefined;
  const { namespace, name = '' } = object.metadata;
  return mark === trackingID(uid, gvkOf(object), { namespace, name }) ? uid : undefined;
}
