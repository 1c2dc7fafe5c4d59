import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentSpec,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ApprovalStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { digestOf } from '../../apply/index.ts';
import type { BundleDeploymentState } from '../phase.ts';

type ApprovalState = Pick<BundleDeploymentState, 'status' | 'deployment' | 'bundle'>;

/**
 * What may be applied without asking: what was approved last, or, before anything was, the active
 * Bundle as it is. Going back to the active Bundle needs no approval, and takes an older one away.
 */
export function approvalOf(
  { status, deployment, bundle }: ApprovalState,
  active: Bundle | undefined,
): ApprovalStatus | undefined {
  const { approval } = status;
  if (active === undefined) return approval;
  const { name, uid } = active.metadata;
  const isBack = uid === bundle?.metadata.uid && approval?.bundle !== name;
  if (approval !== undefined && !(isBack && isOlder(active, approval))) return approval;
  const rendering = approval?.rendering ?? renderingOf(deployment.spec);
  return approved(active, { rendering, objects: appliedContent(status, active) });
}

/** A Bundle that was made again since may have other content than the one that was active. */
function isOlder({ metadata }: Bundle, { approvedAt = '' }: ApprovalStatus): boolean {
  return Date.parse(metadata.creationTimestamp ?? '') <= Date.parse(approvedAt);
}

export function approved(
  { metadata }: Bundle,
  { rendering, objects }: { readonly rendering: string; readonly objects: string | undefined },
): ApprovalStatus {
  const { name = '', uid = '' } = metadata;
  return { bundle: name, uid, rendering, ...(objects !== undefined && { objects }) };
}

/** Whether this Bundle, made into objects as the spec says now, was approved. */
export function isApproved(
  approval: ApprovalStatus | undefined,
  { metadata }: Bundle,
  { spec }: BundleDeployment,
): boolean {
  return (
    approval?.bundle === metadata.name &&
    approval?.uid === metadata.uid &&
    approval?.rendering === renderingOf(spec)
  );
}

/**
 * Whether the active Bundle may go on being repaired: not where even that would become something
 * that nobody has approved.
 */
export function isRepairable(
  approval: ApprovalStatus | undefined,
  { metadata }: Bundle,
  { spec }: BundleDeployment,
): boolean {
  if (approval === undefined) return true;
  const isAnother = approval.bundle === metadata.name && approval.uid !== metadata.uid;
  return approval.rendering === renderingOf(spec) && !isAnother;
}

/** The digest of what may be applied of a Bundle; undefined where nobody has noted it. */
export function approvedContent(
  status: ApprovalState['status'],
  bundle: Bundle,
): string | undefined {
  const { approval } = status;
  return approval?.uid === bundle.metadata.uid ? approval?.objects : appliedContent(status, bundle);
}

function appliedContent(
  { applied }: ApprovalState['status'],
  { metadata: { uid } }: Bundle,
): string | undefined {
  return applied?.uid === uid ? applied?.objects : undefined;
}

/** Digest of what makes objects of a Bundle, besides the Bundle and facts. */
export function renderingOf({ provisionerClassName, config }: BundleDeploymentSpec): string {
  return digestOf([provisionerClassName, config ?? null]);
}

/** The digest of the plan that somebody wants to be applied, unless that was done already. */
export function askedDigest({ deployment, status }: ApprovalState): string | undefined {
  const digest = deployment.metadata.annotations?.[annotation.approve]?.trim();
  return digest === '' || digest === status.approval?.digest ? undefined : digest;
}
