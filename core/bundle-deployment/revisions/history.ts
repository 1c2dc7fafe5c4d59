import { parseDuration } from '../../../api/duration.ts';
import { stringifyJson } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentSpec,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import type { BundleTemplate } from '../../../api/v1alpha1/bundle-template.ts';
import type { Revision } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../phase.ts';

/** Earlier Bundles kept for a deployment that rolls back and names no limit. */
const defaultLimit = 2;

/** How many earlier Bundles are kept to go back to; with spec.rollback there is always one. */
function keptRevisions({ rollback, revisionHistoryLimit }: BundleDeploymentSpec): number {
  if (rollback === undefined) return revisionHistoryLimit ?? 0;
  return Math.max(revisionHistoryLimit ?? defaultLimit, 1);
}

/** Whether status.progress is kept: by RukPak's API alone there is none. */
export function keepsProgress(spec: BundleDeploymentSpec): boolean {
  return keptRevisions(spec) > 0 || spec.health?.progressDeadline !== undefined;
}

/** Milliseconds that a new Bundle has to become healthy; undefined where it has forever. */
export function rollbackDeadline({ rollback }: BundleDeploymentSpec): number | undefined {
  return rollback === undefined ? undefined : parseDuration(rollback.deadline);
}

/** The status without what the spec no longer asks for. */
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

/** Of 1.5 MiB that etcd takes of an object: a template may have 256 KiB of annotations. */
const maxBytes = 256 * 1024;

/** status.history: one entry per Bundle, the latest first. All functions here are pure. */
export type History = readonly Revision[];

export type NewRevision = Omit<Revision, 'revision'>;

/** With a Bundle that was applied: a new revision, also where an earlier one was of that Bundle. */
export function withRevision(history: History, added: NewRevision): History {
  const revision = Math.max(0, ...history.map((entry) => entry.revision)) + 1;
  return [{ revision, ...added }, ...history.filter(({ bundle }) => bundle !== added.bundle)];
}

/** With a Bundle that was healthy for the first time. */
export function withHealthy(history: History, bundle: string, healthyAt: string): History {
  return history.map((entry) =>
    entry.bundle === bundle && entry.healthyAt === undefined ? { ...entry, healthyAt } : entry,
  );
}

/** With a Bundle that was given up for an earlier one. */
export function withRolledBack(history: History, bundle: string, rolledBackAt: string): History {
  return history.map((entry) => (entry.bundle === bundle ? { ...entry, rolledBackAt } : entry));
}

/** The latest revision that was healthy and is not of the Bundle `except`. */
export function lastHealthy(history: History, except: string): Revision | undefined {
  return history.find(({ bundle, healthyAt }) => bundle !== except && healthyAt !== undefined);
}

/**
 * The latest revision and `kept` earlier ones, as far as there is room. The active one and the last
 * healthy one are always among them, however many that never were healthy came after them.
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

/** Whether a Bundle is kept to go back to. */
export function isRevision(
  { metadata }: Bundle,
  { history = [] }: BundleDeploymentStatus,
): boolean {
  return history.some(({ bundle }) => bundle === metadata.name);
}

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

/** Name of the field manager that was the last to set spec.template. */
export function templateManager({ metadata }: KubernetesObject): string | undefined {
  const entries = listOf(fieldAt(metadata, 'managedFields')).filter(setsTemplate);
  const latest = entries.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)))[0];
  return stringAt(latest, 'manager');
}

/** The object with no more of managedFields than what `templateManager` reads: caches hold many. */
export function keepTemplateManager<T extends KubernetesObject>(object: T): T {
  const managedFields = listOf(fieldAt(object.metadata, 'managedFields'))
    .filter(setsTemplate)
    .map((entry) => ({
      manager: stringAt(entry, 'manager'),
      time: timeOf(entry),
      fieldsV1: { 'f:spec': { 'f:template': {} } },
    }));
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function setsTemplate(entry: unknown): boolean {
  return isMap(fieldAt(entry, 'fieldsV1', 'f:spec', 'f:template'));
}

function timeOf(entry: unknown): string {
  return stringAt(entry, 'time') ?? '';
}
