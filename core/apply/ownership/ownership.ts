import { gvkOf } from '../../../api/gvk.ts';
import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { generatedFor } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import { hasFormerFields } from '../fields/managed-fields.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import { objectPath } from '../objects/object-id.ts';
import { isNamespace } from '../objects/order.ts';
import {
  applySetKey,
  controllerOf,
  deploymentApplySetID,
  isDeployment,
  isMarked,
  labelledOwner,
  trackedUID,
} from '../objects/owner-marks.ts';

/** Whether an existing object may become part of a deployment, or already is. */
export type Ownership =
  | { readonly verdict: 'ours' }
  /** May be taken after its controller references are removed, if it has any. */
  | { readonly verdict: 'adopt'; readonly dropControllers: boolean }
  /** Transferred to the deployment that has it now: core must not change it for this one. */
  | { readonly verdict: 'transferred'; readonly to: string }
  | RefusedOwnership;

interface RefusedOwnership {
  readonly verdict: 'refused';
  /** Who owns it, as the second half of "it …". */
  readonly because: string;
  /** The other deployment that owns it. */
  readonly deployment?: string;
  /** Whether spec.adoption must be Always: Unowned is not enough. */
  readonly needsAlways: boolean;
}

/**
 * Judges a live object. It belongs to the deployment by its controller reference, or, without a
 * controller, by its labels and mark. Core silently takes over objects of an earlier deployment of
 * the same name (also restored from a backup), and of the Helm release that RukPak made under the
 * name. It takes anything else only as spec.adoption and the annotation `core.rukpak.io/adopt`
 * allow. It refuses an object of another BundleDeployment and names that one; `DeploymentConsent`
 * decides whether the object may be transferred.
 */
export function ownershipOf(
  live: KubernetesObject,
  owner: BundleDeployment,
  systemNamespace: string,
): Ownership {
  const generated = generatedFor(live);
  if (generated !== undefined) {
    return refused(`was generated for BundleDeployment "${generated}"`, true);
  }
  const controller = controllerOf(live);
  const name = owner.metadata.name ?? '';
  // Somebody may have removed the labels.
  const isOurs = controller === undefined && trackedUID(live) === owner.metadata.uid;
  const deployment = isOurs ? name : deploymentThatHas(live, controller);
  if (deployment === name) return { verdict: 'ours' };
  const because = holder(live, controller);
  if (deployment !== undefined) {
    if (transferTargets(owner).includes(deployment))
      return { verdict: 'transferred', to: deployment };
    return { ...refused(because, true), deployment };
  }
  return mayAdopt(live, owner, systemNamespace)
    ? { verdict: 'adopt', dropControllers: controller !== undefined }
    : refused(because, controller !== undefined || helmRelease(live) !== undefined);
}

function refused(because: string, needsAlways: boolean): RefusedOwnership {
  return { verdict: 'refused', because, needsAlways };
}

/** The deployment that controls an object, or that made it when it has no controller. */
function deploymentThatHas(
  live: KubernetesObject,
  controller: OwnerReference | undefined,
): string | undefined {
  if (controller === undefined) return isCopy(live) ? undefined : labelledOwner(live);
  return isDeployment(controller, controller.name) ? controller.name : undefined;
}

/**
 * True when somebody copied one of core's objects with its labels. The mark of an object that core
 * made names the object; for RukPak's objects the managed fields tell who wrote it.
 */
function isCopy(live: KubernetesObject): boolean {
  if (trackedUID(live) !== undefined) return false;
  return isMarked(live) || (managedFieldsOf(live) === undefined && !hasFormerFields(live));
}

/** For objects without a deployment. */
function mayAdopt(
  live: KubernetesObject,
  owner: BundleDeployment,
  systemNamespace: string,
): boolean {
  const name = owner.metadata.name ?? '';
  if (isNamespace(gvkOf(live))) return mayAdoptNamespace(live, owner, systemNamespace);
  if (controllerOf(live) !== undefined) return takesOwned(owner, live);
  const wasOurs =
    stringAt(live.metadata.annotations, annotation.leftBy) === name ||
    isReleaseOf(live, name, systemNamespace);
  if (wasOurs) return owner.spec.adoption !== 'Never';
  return helmRelease(live) === undefined ? takesUnowned(owner, live) : takesOwned(owner, live);
}

/**
 * Any deployment may take a namespace that core or RukPak made and released. Core never adopts
 * another namespace: it would be deleted with its deployment one day, whatever spec.adoption says.
 */
function mayAdoptNamespace(
  live: KubernetesObject,
  owner: BundleDeployment,
  systemNamespace: string,
): boolean {
  if (owner.spec.adoption === 'Never' || controllerOf(live) !== undefined) return false;
  const leftBy = stringAt(live.metadata.annotations, annotation.leftBy);
  return leftBy !== undefined || isReleaseOf(live, owner.metadata.name ?? '', systemNamespace);
}

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

/** The Helm release that an object belongs to by its marks. */
export function helmRelease(live: KubernetesObject): Release | undefined {
  const { labels, annotations } = live.metadata;
  const name = stringAt(annotations, 'meta.helm.sh/release-name');
  if (stringAt(labels, 'app.kubernetes.io/managed-by') !== 'Helm') return undefined;
  if (name === undefined) return undefined;
  return { name, namespace: stringAt(annotations, 'meta.helm.sh/release-namespace') ?? '' };
}

/** True when RukPak's managers still own fields of an object of a migrated deployment. */
export function isLeftByRukpak(
  live: KubernetesObject,
  owner: BundleDeployment,
  systemNamespace: string,
): boolean {
  if (!hasFormerFields(live, isRukpaks(owner))) return false;
  const name = owner.metadata.name ?? '';
  // Objects that RukPak repaired lack Helm's marks. Once core has applied the object, an entry of
  // this name may belong to another program with the same default name.
  if (helmRelease(live) === undefined) {
    return labelledOwner(live) === name && managedFieldsOf(live) === undefined;
  }
  return isReleaseOf(live, name, systemNamespace);
}

/**
 * True for a deployment that RukPak managed: core has not applied it yet, or it returned to RukPak,
 * which removes its label.
 */
export function isRukpaks({ metadata: { name = '', labels } }: BundleDeployment): boolean {
  return labels?.[applySetKey.id] !== deploymentApplySetID(name);
}

/**
 * The release of an adopted object, whose record Helm has; undefined for that of RukPak, which it needs
 * for a way back.
 */
export function foreignRelease(
  live: KubernetesObject,
  { metadata: { name = '' } }: BundleDeployment,
  systemNamespace: string,
): Release | undefined {
  return isReleaseOf(live, name, systemNamespace) ? undefined : helmRelease(live);
}

function isReleaseOf(live: KubernetesObject, name: string, systemNamespace: string): boolean {
  const release = helmRelease(live);
  return release?.name === name && release.namespace === systemNamespace;
}

function holder(live: KubernetesObject, controller: OwnerReference | undefined): string {
  if (controller !== undefined) return `is controlled by ${controller.kind} "${controller.name}"`;
  const deployment = labelledOwner(live);
  if (deployment !== undefined) {
    return isCopy(live)
      ? `has the labels of BundleDeployment "${deployment}", which did not create it (annotation ${annotation.trackingID} is missing or of another object)`
      : `belongs to BundleDeployment "${deployment}"`;
  }
  const release = helmRelease(live);
  return release === undefined
    ? 'has no owner'
    : `belongs to Helm release "${release.name}" in namespace "${release.namespace}"`;
}

/** Maximum number of deployments to read: an annotation has room for a hundred thousand. */
const maxTakers = 100;

/** True when the deployment may take objects without an owner. */
function takesUnowned(owner: BundleDeployment, live: KubernetesObject): boolean {
  return owner.spec.adoption === 'Unowned' || takesOwned(owner, live);
}

/**
 * True when the deployment may take objects of others: by spec.adoption Always, or, when it is
 * absent or Unowned, by the annotation `core.rukpak.io/adopt`: `*` for everything, or a
 * comma-separated list of `Kind/namespace/name`, for cluster-scoped objects `Kind/name`.
 */
export function takesOwned(owner: BundleDeployment, live: KubernetesObject): boolean {
  if (owner.spec.adoption === 'Never') return false;
  return owner.spec.adoption === 'Always' || isNamed(owner, live);
}

/**
 * The deployments that may take objects of this one (annotation `core.rukpak.io/hand-over`), at
 * most a hundred.
 */
export function transferTargets(owner: BundleDeployment): readonly string[] {
  const names = new Set(listed(owner, annotation.handOver));
  names.delete(owner.metadata.name ?? '');
  return [...names].slice(0, maxTakers);
}

function isNamed(owner: BundleDeployment, live: KubernetesObject): boolean {
  const { namespace, name = '' } = live.metadata;
  const path = objectPath(live.kind, { namespace, name });
  return adoptedPaths(owner).some((entry) => entry === '*' || entry === path);
}

/** The list of the annotation `core.rukpak.io/adopt`. */
export function adoptedPaths(owner: BundleDeployment): readonly string[] {
  return listed(owner, annotation.adopt);
}

function listed({ metadata }: BundleDeployment, key: string): readonly string[] {
  return (stringAt(metadata.annotations, key) ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
