import type { KubernetesObject, OwnerReference } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { generatedFor } from '../../api/v1alpha1/generated-bundle.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import type { ObjectKey } from '../kube/resource.ts';
import { hasFormerFields } from './adoption/former-fields.ts';
import { stringAt } from './json-fields.ts';
import { describeObject, objectPath } from './object-id.ts';
import { managedFieldsOf } from './projection.ts';

/** Whether an existing object may become, or already is, part of a deployment. */
export type Ownership =
  | { readonly verdict: 'ours' }
  /** Free to take once the references of its former controllers are removed, if it has any. */
  | { readonly verdict: 'adopt'; readonly dropControllers: boolean }
  /** Who has it, as the second half of "it …". */
  | { readonly verdict: 'refused'; readonly because: string };

/** A refused object, for the message. */
export interface RefusedObject {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly because: string;
}

const listedRefusals = 10;

export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** True for the controller reference of the BundleDeployment with this name. */
export function isDeployment(reference: OwnerReference, name: string): boolean {
  return (
    reference.kind === bundleDeploymentResource.kind &&
    reference.name === name &&
    reference.apiVersion.startsWith(`${bundleDeploymentResource.group}/`)
  );
}

/** The deployment that an object's labels name as the one whose content it is. */
export function labelledOwner(object: KubernetesObject): string | undefined {
  const { labels } = object.metadata;
  // What a deployment unpacks its content with is never its content, and never to be pruned.
  if (generatedFor(object) !== undefined) return undefined;
  if (stringAt(labels, label.ownerKind) !== bundleDeploymentResource.kind) return undefined;
  return stringAt(labels, label.ownerName) || undefined;
}

/**
 * Judges a live object. It is ours by its controller reference, or by its labels where it has no
 * controller (kept objects). Objects of the Helm release that RukPak made under the same name are
 * taken over silently. Anything else only where the BundleDeployment's annotation
 * `core.rukpak.io/adopt` allows it: `*` for everything, or a comma-separated list of
 * `Kind/namespace/name`, for cluster-scoped objects `Kind/name`.
 */
export function ownershipOf(
  live: KubernetesObject,
  owner: BundleDeployment,
  systemNamespace: string,
): Ownership {
  const name = owner.metadata.name ?? '';
  const deployment = generatedFor(live);
  if (deployment !== undefined) {
    return { verdict: 'refused', because: `was generated for BundleDeployment "${deployment}"` };
  }
  const controller = controllerOf(live);
  if (controller !== undefined) {
    if (isDeployment(controller, name)) return { verdict: 'ours' };
    if (mayAdopt(live, owner)) return { verdict: 'adopt', dropControllers: true };
    return {
      verdict: 'refused',
      because: `is controlled by ${controller.kind} "${controller.name}"`,
    };
  }
  if (labelledOwner(live) === name) return { verdict: 'ours' };
  if (isReleaseOf(live, name, systemNamespace) || mayAdopt(live, owner)) {
    return { verdict: 'adopt', dropControllers: false };
  }
  return { verdict: 'refused', because: holder(live) };
}

/** The message of spec section 6, number 5, up to its last colon; then who has each object and the way out. */
export function ownershipMessage(
  refused: readonly RefusedObject[],
  owner: BundleDeployment,
  operation: 'install' | 'update',
): string {
  const listed = refused.slice(0, listedRefusals);
  const objects = listed.map(
    ({ kind, key, because }) =>
      `${describeObject(kind, key)} exists and cannot be imported into the current release: it ${because}`,
  );
  const more = refused.length - listed.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  const paths = listed.map(({ kind, key }) => objectPath(kind, key)).join(',');
  const [them, is] = refused.length === 1 ? ['it', 'it is'] : ['them', 'they are'];
  return (
    'rendered manifests contain a resource that already exists. ' +
    `Unable to continue with ${operation}: ${objects.join('; ')}${rest}. ` +
    `Delete or rename ${them}, or if ${is} to belong to this BundleDeployment: ` +
    `kubectl annotate bundledeployment ${owner.metadata.name ?? ''} ` +
    `${annotation.adopt}=${more > 0 ? "'*'" : paths}`
  );
}

function mayAdopt(live: KubernetesObject, owner: BundleDeployment): boolean {
  const { namespace, name = '' } = live.metadata;
  const path = objectPath(live.kind, { namespace, name });
  return (stringAt(owner.metadata.annotations, annotation.adopt) ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .some((entry) => entry === '*' || entry === path);
}

interface Release {
  readonly name: string;
  readonly namespace: string;
}

function helmRelease(live: KubernetesObject): Release | undefined {
  const { labels, annotations } = live.metadata;
  const name = stringAt(annotations, 'meta.helm.sh/release-name');
  if (stringAt(labels, 'app.kubernetes.io/managed-by') !== 'Helm') return undefined;
  if (name === undefined) return undefined;
  return { name, namespace: stringAt(annotations, 'meta.helm.sh/release-namespace') ?? '' };
}

/** True where fields of an object of this deployment still belong to RukPak, which it came from. */
export function isLeftByRukpak(
  live: KubernetesObject,
  name: string,
  systemNamespace: string,
): boolean {
  if (!hasFormerFields(live)) return false;
  // What RukPak had repaired has no marks of Helm (spec section 6, number 10). Where we have applied
  // it since, these may be fields of a namesake of RukPak's.
  if (helmRelease(live) === undefined) {
    return labelledOwner(live) === name && managedFieldsOf(live) === undefined;
  }
  return isReleaseOf(live, name, systemNamespace);
}

function isReleaseOf(live: KubernetesObject, name: string, systemNamespace: string): boolean {
  const release = helmRelease(live);
  return release?.name === name && release.namespace === systemNamespace;
}

function holder(live: KubernetesObject): string {
  const deployment = labelledOwner(live);
  if (deployment !== undefined) return `belongs to BundleDeployment "${deployment}"`;
  const release = helmRelease(live);
  return release === undefined
    ? 'has no owner'
    : `belongs to Helm release "${release.name}" in namespace "${release.namespace}"`;
}
