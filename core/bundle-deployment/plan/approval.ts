import type {
  BundleDeployment,
  BundleDeploymentSpec,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ApprovalStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { digestOf } from '../../apply/digest.ts';
import type { BundleDeploymentState } from '../state.ts';

/**
 * What may be applied without asking: what was approved last, or, before anything was, the active
 * Bundle as it is. Going back to the active Bundle needs no approval, and takes an older one away.
 */
export function approvalOf({
  status,
  deployment,
  bundle,
}: ApprovalState): ApprovalStatus | undefined {
  const { approval, activeBundle = '' } = status;
  if (activeBundle === '') return approval;
  const rendering = approval?.rendering ?? renderingOf(deployment.spec);
  const isBack = activeBundle === bundle?.metadata.name && approval?.bundle !== activeBundle;
  return approval === undefined || isBack ? { bundle: activeBundle, rendering } : approval;
}

type ApprovalState = Pick<BundleDeploymentState, 'status' | 'deployment' | 'bundle'>;

/** Whether the template's Bundle, made into objects as the spec says now, was approved. */
export function isApproved({ status: { approval }, deployment, bundle }: ApprovalState): boolean {
  return approval?.bundle === bundle?.metadata.name && isSameRendering(approval, deployment);
}

/** False where even the active Bundle would become other objects than those that were approved. */
export function isSameRendering(
  approval: ApprovalStatus | undefined,
  { spec }: BundleDeployment,
): boolean {
  return approval === undefined || approval.rendering === renderingOf(spec);
}

/** Digest of what makes objects of a Bundle, besides the Bundle. */
export function renderingOf({ provisionerClassName, config }: BundleDeploymentSpec): string {
  return digestOf([provisionerClassName, config ?? null]);
}

/** The digest of the plan that somebody wants to be applied, unless that was done already. */
export function askedDigest({ deployment, status }: ApprovalState): string | undefined {
  const digest = deployment.metadata.annotations?.[annotation.approve]?.trim();
  return digest === '' || digest === status.approval?.digest ? undefined : digest;
}
