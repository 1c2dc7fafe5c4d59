import { gvkOf } from '../../../api/gvk.ts';
import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { generatedFor } from '../../../api/v1alpha1/generated-bundle.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
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

/** Whether an existing object may become, or already is, part of a deployment. */
export type Ownership =
  | { readonly verdict: 'ours' }
  /** Free to take once the references of its former controllers are removed, if it has any. */
  | { readonly verdict: 'adopt'; readonly dropControllers: boolean }
  /** Handed over to the deployment that has it by now: nothing of it is ours to change. */
  | { readonly verdict: 'transferred'; readonly to: string }
  | RefusedOwnership;

interface RefusedOwnership {
  readonly verdict: 'refused';
  /** Who has it, as the second half of "it …". */
  readonly because: string;
  /** Which other deployment that is. */
  readonly deployment?: string;
  /** Whether spec.adoption must be Always for it: Unowned is not enough. */
  readonly needsAlways: boolean;
}

/**
 * Judges a live object. It is ours by its controller reference, or by its labels and its mark where
 * it has no controller, also where an earlier deployment of that name had it: what a backup brings back
 * is taken over. Objects of the Helm release that RukPak made under the same name, and
 * what a deployment of that name has left, are taken over silently, anything else only as far as the
 * BundleDeployment's spec.adoption and its annotation `core.rukpak.io/adopt` allow it. What another
 * BundleDeployment has is refused, with its name: whether it may be taken all the same is for
 * `DeploymentConsent` to say.
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
  // Somebody may have taken the labels off.
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

/** The deployment that controls an object, or has made it where nobody controls it. */
function deploymentThatHas(
  live: KubernetesObject,
  controller: OwnerReference | undefined,
): string | undefined {
  if (controller === undefined) return isCopy(live) ? undefined : labelledOwner(live);
  return isDeployment(controller, controller.name) ? controller.name : undefined;
}

/**
 * True where somebody copied an object of ours, labels and all. Of what core made itself the mark
 * names the object, or, as RukPak left it, the managed fields tell who wrote it.
 */
function isCopy(live: KubernetesObject): boolean {
  if (trackedUID(live) !== undefined) return false;
  return isMarked(live) || (managedFieldsOf(live) === undefined && !hasFormerFields(live));
}

/** Of what no deployment has. */
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
 * Of namespaces only what core or RukPak has made and has left: any deployment that wants it. What was
 * there before would go with its deployment one day, whoever allowed to take it.
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
  owner: BundleDeployment,
  systemNamespace: string,
): boolean {
  if (!hasFormerFields(live, isRukpaks(owner))) return false;
  const name = owner.metadata.name ?? '';
  // What RukPak had repaired has no marks of Helm. Where we have applied
  // it since, these may be fields of a namesake of RukPak's.
  if (helmRelease(live) === undefined) {
    return labelledOwner(live) === name && managedFieldsOf(live) === undefined;
  }
  return isReleaseOf(live, name, systemNamespace);
}

/**
 * True for a deployment that RukPak has had: core has not applied it, or it went back (its label is
 * taken off on the way).
 */
export function isRukpaks({ metadata: { name = '', labels } }: BundleDeployment): boolean {
  return labels?.[applySetKey.id] !== deploymentApplySetID(name);
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
      ? `bears the labels of BundleDeployment "${deployment}", which did not make it`
      : `belongs to BundleDeployment "${deployment}"`;
  }
  const release = helmRelease(live);
  return release === undefined
    ? 'has no owner'
    : `belongs to Helm release "${release.name}" in namespace "${release.namespace}"`;
}

/** Each of them is read from the API server, and an annotation has room for a hundred thousand. */
const maxTakers = 100;

/** True where the deployment may take objects that nobody has. */
function takesUnowned(owner: BundleDeployment, live: KubernetesObject): boolean {
  return owner.spec.adoption === 'Unowned' || takesOwned(owner, live);
}

/**
 * True where the deployment may take objects of others: by spec.adoption, or where it is absent or
 * Unowned by the annotation `core.rukpak.io/adopt`: `*` for everything, or a comma-separated list of
 * `Kind/namespace/name`, for cluster-scoped objects `Kind/name`.
 */
export function takesOwned(owner: BundleDeployment, live: KubernetesObject): boolean {
  if (owner.spec.adoption === 'Never') return false;
  return owner.spec.adoption === 'Always' || isNamed(owner, live);
}

/** The first hundred that may take objects of this one (annotation `core.rukpak.io/hand-over`). */
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

/** What the annotation `core.rukpak.io/adopt` lists. */
export function adoptedPaths(owner: BundleDeployment): readonly string[] {
  return listed(owner, annotation.adopt);
}

function listed({ metadata }: BundleDeployment, key: string): readonly string[] {
  return (stringAt(metadata.annotations, key) ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
