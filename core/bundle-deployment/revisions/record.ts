import type { Condition } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { BundleTemplate } from '../../../api/v1alpha1/bundle-template.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../state.ts';
import { type NewRevision, trimmed, withRevision } from './history.ts';
import { keepsProgress, keptRevisions } from './policy.ts';
import { templateManager } from './template-manager.ts';

/** The status with the template's Bundle as the latest revision: it has just been applied. */
export function withApplied(
  { deployment, status, bundle, target }: BundleDeploymentState,
  clock: Clock,
): BundleDeploymentStatus {
  const { history = [] } = status;
  const name = target?.metadata.name ?? '';
  // What is gone back to is no new revision.
  if (keptRevisions(deployment.spec) === 0 || target !== bundle) return status;
  if (history[0]?.bundle === name) return status;
  const appliedBy = changedBy(deployment);
  return withAdded(
    { deployment, status },
    {
      bundle: name,
      template: deployment.spec.template,
      appliedAt: timestamp(clock),
      ...(appliedBy !== undefined && { appliedBy }),
    },
  );
}

/**
 * The status with the active Bundle in it where it was brought out before anybody asked for its
 * progress or a history: nobody knows by whom it was, nor how long it took.
 */
export function withActive(
  { deployment, status, bundle: current }: BundleDeploymentState,
  active: Bundle,
  decisive: 'Installed' | 'Healthy',
): BundleDeploymentStatus {
  const bundle = active.metadata.name ?? '';
  const times = timesOf(active, findCondition(status.conditions, decisive));
  const next =
    status.progress === undefined && keepsProgress(deployment.spec)
      ? { ...status, progress: { bundle, startedAt: times.appliedAt, ...times.healthy } }
      : status;
  if (keptRevisions(deployment.spec) === 0) return next;
  if (next.history?.some((entry) => entry.bundle === bundle) === true) return next;
  const template = active === current ? deployment.spec.template : templateOf(active);
  const { appliedAt, healthy } = times;
  return withAdded({ deployment, status: next }, { bundle, template, appliedAt, ...healthy });
}

/** As far as the Bundle tells, and the condition, which may have been True before this Bundle. */
function timesOf(
  { metadata }: Bundle,
  condition: Condition | undefined,
): { readonly appliedAt: string; readonly healthy: { readonly healthyAt?: string } } {
  const appliedAt = metadata.creationTimestamp ?? '';
  if (condition?.status !== 'True') return { appliedAt, healthy: {} };
  const since = condition.lastTransitionTime;
  return { appliedAt, healthy: { healthyAt: since > appliedAt ? since : appliedAt } };
}

export function boundedHistory({
  deployment,
  status,
}: Pick<BundleDeploymentState, 'deployment' | 'status'>): BundleDeploymentStatus {
  const { history, activeBundle: active } = status;
  if (history === undefined) return status;
  const kept = keptRevisions(deployment.spec);
  return { ...status, history: [...trimmed(history, { kept, active })] };
}

function withAdded(
  { deployment, status }: Pick<BundleDeploymentState, 'deployment' | 'status'>,
  added: NewRevision,
): BundleDeploymentStatus {
  const history = [...withRevision(status.history ?? [], added)];
  return boundedHistory({ deployment, status: { ...status, history } });
}

function changedBy(deployment: BundleDeployment): string | undefined {
  const user = deployment.metadata.annotations?.[annotation.changedBy];
  if (user !== undefined) return user;
  const manager = templateManager(deployment);
  return manager === undefined ? undefined : `${manager} (field manager)`;
}

/** The template that a Bundle was made of, as far as the Bundle tells. */
function templateOf({ metadata, spec }: Bundle): BundleTemplate {
  const { labels: all = {}, annotations } = metadata;
  const { [label.ownerKind]: _, [label.ownerName]: __, [label.templateHash]: ___, ...labels } = all;
  const known = {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(annotations !== undefined && { annotations }),
  };
  return { ...(Object.keys(known).length > 0 && { metadata: known }), spec };
}
