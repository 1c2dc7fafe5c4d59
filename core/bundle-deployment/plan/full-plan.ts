import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type PlanStatus, planStatusSchema } from '../../../api/v1alpha1/deployment-plan.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { Forecast, ForecastChange } from '../../contracts/applier.ts';

const fieldChangeSchema = z.object({
  path: z.string(),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
});

const forecastChangeSchema = z.object({
  action: z.enum(['Create', 'Change', 'Delete', 'Orphan']),
  group: z.string(),
  kind: z.string(),
  namespace: z.string().exactOptional(),
  name: z.string(),
  fields: z.array(fieldChangeSchema).readonly().exactOptional(),
  moreFields: z.int().exactOptional(),
  because: z.string().exactOptional(),
});

/** The plan that the content server serves: with all changes and their values. */
export const fullPlanSchema = planStatusSchema.extend({
  bundleDeployment: z.string(),
  changes: z.array(forecastChangeSchema).readonly(),
  problems: z.array(z.string()).readonly(),
  warnings: z.array(z.string()).readonly(),
});

export interface FullPlan extends z.infer<typeof fullPlanSchema> {}

/** Limits of status.plan: a deployment of a thousand objects must still fit into etcd. */
const statusLimits = {
  changes: 30,
  hooks: 30,
  fields: 8,
  sentences: 10,
  text: 500,
  name: 253,
} as const;

/** Limits of the full plan's sentences, because a refusal may quote the refused object. */
const fullLimits = { sentences: 50, text: 2_000 } as const;

interface PlanSubject {
  readonly deployment: string;
  readonly bundle: { readonly name: string; readonly uid: string };
  /** Hooks that would run, in their order. */
  readonly hooks?: readonly string[];
  /** RFC 3339. */
  readonly createdAt: string;
}

export function fullPlan(forecast: Forecast, subject: PlanSubject): FullPlan {
  const { changes, unchanged, problems, warnings } = forecast;
  const { hooks = [] } = subject;
  const count = (action: ForecastChange['action']): number =>
    changes.filter((change) => change.action === action).length;
  const orphan = count('Orphan');
  return {
    bundleDeployment: subject.deployment,
    bundle: subject.bundle.name,
    digest: planDigest(forecast, subject),
    createdAt: subject.createdAt,
    create: count('Create'),
    change: count('Change'),
    delete: count('Delete'),
    ...(orphan === 0 ? {} : { orphan }),
    unchanged,
    changes,
    ...(hooks.length === 0 ? {} : { hooks: bounded(hooks, fullLimits) }),
    problems: bounded(problems, fullLimits),
    warnings: bounded(warnings, fullLimits),
  };
}

function bounded(
  sentences: readonly string[],
  limits: { readonly sentences: number; readonly text: number },
): string[] {
  const shown = sentences
    .slice(0, limits.sentences)
    .map((sentence) => sentence.slice(0, limits.text));
  const more = sentences.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more`];
}

/** Hexadecimal, because people type it, and it must not start with a dash. */
function planDigest({ digest }: Forecast, { bundle, hooks = [] }: PlanSubject): string {
  const text = [bundle.uid, digest, ...hooks].join('\n');
  return createHash('sha256').update(text).digest('hex');
}

/** The part of a plan for the deployment's status. */
export function planStatus(plan: FullPlan): PlanStatus {
  const { bundle, digest, createdAt, orphan, unchanged } = plan;
  const changes = plan.changes.slice(0, statusLimits.changes).map(statusChange);
  const problems = bounded(plan.problems, statusLimits);
  const hooks = plan.hooks
    ?.slice(0, statusLimits.hooks)
    .map((line) => line.slice(0, statusLimits.text));
  const isCut = plan.changes.length > changes.length || plan.changes.some(hasMoreFields);
  return {
    bundle,
    digest,
    createdAt,
    create: plan.create,
    change: plan.change,
    delete: plan.delete,
    ...(orphan === undefined ? {} : { orphan }),
    unchanged,
    changes,
    ...(hooks === undefined ? {} : { hooks }),
    ...(isCut ? { truncated: true } : {}),
    ...(problems.length === 0 ? {} : { problems }),
  };
}

function statusChange(change: ForecastChange): PlanStatus['changes'][number] {
  const { moreFields: _, because: __, fields, namespace, ...rest } = change;
  // A kind that comes with the bundle is not validated yet, so its name may be a megabyte long.
  const object = {
    ...rest,
    group: cut(rest.group),
    kind: cut(rest.kind),
    ...(namespace === undefined ? {} : { namespace: cut(namespace) }),
    name: cut(rest.name),
  };
  if (fields === undefined) return object;
  return { ...object, fields: fields.slice(0, statusLimits.fields).map(({ path }) => path) };
}

function cut(name: string): string {
  return name.slice(0, statusLimits.name);
}

function hasMoreFields({ fields = [], moreFields = 0 }: ForecastChange): boolean {
  return fields.length + moreFields > statusLimits.fields;
}

const listedProblems = 3;

/** The numbers of a plan, such as `2 to create, 1 to change, 0 to delete, 4 unchanged`. */
export function planCounts(
  plan: Pick<PlanStatus, 'create' | 'change' | 'delete' | 'orphan' | 'unchanged'>,
): string {
  const { create, change, orphan = 0, unchanged } = plan;
  const orphaned = orphan === 0 ? '' : `${orphan} to orphan, `;
  return `${create} to create, ${change} to change, ${plan.delete} to delete, ${orphaned}${unchanged} unchanged`;
}

/**
 * The message of a plan that waits for approval; `outdated` is the approved digest, when that is
 * another plan's.
 */
export function planMessage(name: string, plan: PlanStatus, outdated: string | undefined): string {
  const { bundle, digest, problems } = plan;
  const changed =
    outdated === undefined
      ? ''
      : `the approved plan ${outdated.slice(0, digest.length)} is outdated: the cluster or the bundle has changed since. `;
  const what = `${changed}the plan of Bundle ${bundle} (${planCounts(plan)})`;
  if (problems !== undefined) {
    const listed = problems.slice(0, listedProblems).join('; ');
    const rest = problems.length > listedProblems ? '; and more' : '';
    return `${what} cannot be approved, because it would fail: ${listed}${rest}. See all of it with "rukpakctl plan ${name}"`;
  }
  return (
    `${what} waits for approval: see it with "rukpakctl plan ${name}", approve it with ` +
    `"rukpakctl approve ${name}" or ` +
    `"kubectl annotate --overwrite bundledeployment ${name} ${annotation.approve}=${digest}"`
  );
}
