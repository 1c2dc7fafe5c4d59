import { parseDuration } from '../../../api/duration.ts';
import { stringifyJson } from '../../../api/json.ts';
import type { Condition } from '../../../api/meta.ts';
import type { Bundle, BundleTemplate } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeploymentSpec,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Revision } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../phase.ts';
import { changedBy } from './template-manager.ts';

/** Default number of earlier Bundles for a deployment with spec.rollback. */
const defaultLimit = 2;

/** Number of earlier Bundles to keep; with spec.rollback at least one. */
function keptRevisions({ rollback, revisionHistoryLimit }: BundleDeploymentSpec): number {
  if (rollback === undefined) return revisionHistoryLimit ?? 0;
  return Math.max(revisionHistoryLimit ?? defaultLimit, 1);
}

/** Whether core writes status.progress: not for a spec with the fields of RukPak only. */
export function keepsProgress(spec: BundleDeploymentSpec): boolean {
  return keptRevisions(spec) > 0 || spec.health?.progressDeadline !== undefined;
}

/** Milliseconds within which a new Bundle must become healthy; undefined without a deadline. */
export function rollbackDeadline({ rollback }: BundleDeploymentSpec): number | undefined {
  return rollback === undefined ? undefined : parseDuration(rollback.deadline);
}

/** The status without fields for which the spec no longer has the feature. */
export function onlyAskedFor(
  { progress, history, rollback, ...rest }: BundleDeploymentStatus,
  spec: BundleDeploymentSpec,
): BundleDeploymentStatus {
  return {
    ...rest,
    ...(progress !== undefined && keepsProgress(spec) && { progress }),
    ...(rollback !== undefined && spec.rollback !== undefined && { rollback }),
    ...(history !== undefined && keptRevisions(spec) > 0 && { history }),
  };
}

/** etcd accepts 1.5 MiB per object, and a template may have 256 KiB of annotations. */
const maxBytes = 256 * 1024;

/** status.history: one entry per Bundle, the latest first. All functions here are pure. */
export type History = readonly Revision[];

export type NewRevision = Omit<Revision, 'revision'>;

/**
 * The history with a Bundle that was applied: a new revision, even when an earlier one has the same
 * Bundle.
 */
export function withRevision(history: History, added: NewRevision): History {
  const revision = Math.max(0, ...history.map((entry) => entry.revision)) + 1;
  return [{ revision, ...added }, ...history.filter(({ bundle }) => bundle !== added.bundle)];
}

/** The history with a Bundle that became healthy for the first time. */
export function withHealthy(history: History, bundle: string, healthyAt: string): History {
  return history.map((entry) =>
    entry.bundle === bundle && entry.healthyAt === undefined ? { ...entry, healthyAt } : entry,
  );
}

/** The history with a Bundle that was rolled back. */
export function withRolledBack(history: History, bundle: string, rolledBackAt: string): History {
  return history.map((entry) => (entry.bundle === bundle ? { ...entry, rolledBackAt } : entry));
}

/** The latest revision that was healthy and is not of the Bundle `except`. */
export function lastHealthy(history: History, except: string): Revision | undefined {
  return history.find(({ bundle, healthyAt }) => bundle !== except && healthyAt !== undefined);
}

/**
 * The latest revision and `kept` earlier ones, as far as there is room. Always keeps the active one
 * and the last healthy one, however many unhealthy ones came after them.
 */
export function trimmed(
  history: History,
  { kept, active }: { readonly kept: number; readonly active: string | undefined },
): History {
  const [latest, ...earlier] = history;
  if (latest === undefined || kept === 0) return [];
  const needed = earlier.filter(
    (entry) => entry.bundle === active || entry === lastHealthy(earlier, latest.bundle),
  );
  const byUse = new Set([...needed, ...earlier]);
  let bytes = bytesOf(latest);
  const fitting = [...byUse].filter((entry, index) => {
    bytes += bytesOf(entry);
    return index < needed.length || (index < kept && bytes <= maxBytes);
  });
  const chosen = new Set(fitting);
  return history.filter((entry) => entry === latest || chosen.has(entry));
}

function bytesOf(revision: Revision): number {
  return Buffer.byteLength(stringifyJson(revision));
}

/** Whether a Bundle is kept for a rollback. */
export function isRevision(
  { metadata }: Bundle,
  { history = [] }: BundleDeploymentStatus,
): boolean {
  return history.some(({ bundle }) => bundle === metadata.name);
}

/** The status with the template's Bundle, just applied, as the latest revision. */
export function withApplied(
  { deployment, status, bundle, target }: BundleDeploymentState,
  clock: Clock,
): BundleDeploymentStatus {
  const { history = [] } = status;
  const name = target?.metadata.name ?? '';
  // A rollback adds no revision.
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
 * The status with the active Bundle as a revision, when it was rolled out before the spec asked for
 * a history: who rolled it out, and how long that took, is unknown.
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

/**
 * Times from the Bundle and the condition; the condition may have become True with an earlier
 * Bundle.
 */
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

/** Labels and annotations that core writes on a deployment's Bundle. */
const ofCore: ReadonlySet<string> = new Set([
  label.ownerKind,
  label.ownerName,
  label.templateHash,
  annotation.pin,
  annotation.configured,
  annotation.sourceReader,
  annotation.adoptedBy,
  annotation.uploadDigest,
]);

/** The template of a Bundle, as far as the Bundle shows it. */
function templateOf({ metadata, spec }: Bundle): BundleTemplate {
  const labels = ofUsers(metadata.labels);
  const annotations = ofUsers(metadata.annotations);
  const known = {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  return { ...(Object.keys(known).length > 0 && { metadata: known }), spec };
}

function ofUsers(map: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !ofCore.has(key)));
}
