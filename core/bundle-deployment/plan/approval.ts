import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ApprovalStatus } from '../../../api/v1alpha1/deployment-plan.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { renderingOf } from '../../apply/index.ts';
import type { BundleDeploymentState } from '../phase.ts';

type ApprovalState = Pick<BundleDeploymentState, 'status' | 'deployment' | 'bundle'>;

/**
 * The content that may be applied without asking: the last approved one, or, before any approval,
 * the active Bundle with the config and class of its last apply. Going back to the active Bundle
 * needs no approval, and drops an older one.
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
  const rendering = installedRendering({ status, deployment }, active);
  return approved(active, { rendering, objects: appliedContent(status, active) });
}

/** Without the digest of the installed content only the approval counts: others may write the rest. */
function installedRendering(
  { status, deployment }: Pick<ApprovalState, 'status' | 'deployment'>,
  active: Bundle,
): string {
  const { approval } = status;
  if (approval !== undefined && appliedContent(status, active) === undefined) {
    return approval.rendering;
  }
  return appliedRendering(status, active) ?? approval?.rendering ?? renderingOf(deployment.spec);
}

/** A Bundle recreated since the approval may have other content than the approved one. */
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

/** Whether this Bundle, rendered with the present spec, is approved. */
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

/** Whether another Bundle of this name, rendered with the present spec, is approved. */
export function isOfFormer(
  { bundle, uid, rendering }: ApprovalStatus,
  { metadata }: Bundle,
  { spec }: BundleDeployment,
): boolean {
  return bundle === metadata.name && uid !== metadata.uid && rendering === renderingOf(spec);
}

/**
 * Whether core may go on repairing the active Bundle: not when that would apply content that nobody
 * has approved.
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

/**
 * Whether this Bundle replaces one of its name that core has applied completely or rolls back to:
 * its content may be another one.
 */
export function isMadeAgain(
  { applied, rollback }: BundleDeploymentStatus,
  { metadata: { name, uid } }: Bundle,
): boolean {
  const isFormer = (bundle: string | undefined, known: string | undefined): boolean =>
    bundle === name && known !== undefined && known !== uid;
  return isFormer(applied?.bundle, applied?.uid) || isFormer(rollback?.to, rollback?.uid);
}

/** The digest of a Bundle's approved content; undefined when none is recorded. */
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

/** `renderingOf` the spec with which a Bundle was applied last; undefined when that is not known. */
export function appliedRendering(
  { applied, waitingDeletions }: BundleDeploymentStatus,
  { metadata: { uid = '' } }: Bundle,
): string | undefined {
  return [applied, waitingDeletions].find((content) => content?.uid === uid)?.rendering;
}

/** The digest of the plan that somebody has approved, unless it is applied already. */
export function askedDigest({ deployment, status }: ApprovalState): string | undefined {
  const digest = deployment.metadata.annotations?.[annotation.approve]?.trim();
  return digest === '' || digest === status.approval?.digest ? undefined : digest;
}
