import type { Dispatcher } from 'undici';
import { type FullPlan, parsePlan, planCounts } from '../../../core/bundle-deployment/index.ts';
import type { FieldChange, ForecastChange } from '../../../core/contracts/applier.ts';
import { TerminalError } from '../../../core/errors.ts';
import { planPath } from '../../../core/store/index.ts';
import type { Cluster } from '../cluster.ts';
import type { ServerFlags } from '../flags.ts';
import { visibleLine } from '../terminal/text.ts';
import { kubeconfigCaller, openContentServer } from './content-server.ts';

interface PlanRequest {
  readonly deployment: string;
  readonly server: ServerFlags & { readonly systemNamespace: string; readonly serviceName: string };
  readonly signal: AbortSignal;
}

/** The full plan of a BundleDeployment from a content server; undefined when there is none. */
export async function readPlan(
  cluster: Cluster,
  { deployment, server, signal }: PlanRequest,
): Promise<FullPlan | undefined> {
  const caller = await kubeconfigCaller(cluster);
  const { systemNamespace: namespace, serviceName: service } = server;
  const opened = await openContentServer(
    cluster,
    { ...server, namespace, service },
    { caller, signal },
  );
  try {
    const path = planPath(deployment);
    return await planOf(await opened.request({ method: 'GET', path, signal }));
  } finally {
    await opened.close();
  }
}

async function planOf({
  statusCode,
  body,
}: Dispatcher.ResponseData): Promise<FullPlan | undefined> {
  const text = await body.text();
  if (statusCode === 200) return parsePlan(text);
  if (statusCode === 404) return undefined;
  throw new TerminalError(
    `the content server answered with HTTP status ${statusCode}: ${text.trim().slice(0, 1000)}`,
  );
}

const words = {
  Create: 'create',
  Change: 'change',
  Delete: 'delete',
  Orphan: 'orphan',
} as const;

/**
 * A plan in readable form: a line for each object, and one for each of its fields. Escapes line
 * breaks in names, so that they cannot add lines to an approved plan.
 */
export function planLines(plan: FullPlan): readonly string[] {
  const { bundleDeployment, bundle, orphan = 0, truncated } = plan;
  const { hooks = [], problems, warnings } = plan;
  const listed = plan.changes.length;
  const all = plan.create + plan.change + plan.delete + orphan;
  return [
    `plan ${plan.digest}`,
    `of Bundle ${bundle} for BundleDeployment ${bundleDeployment}, made at ${plan.createdAt}`,
    '',
    ...plan.changes.flatMap(changeLines),
    ...(truncated === true && listed < all ? [`… and ${all - listed} more`] : []),
    ...(all === 0 ? [] : ['']),
    planCounts(plan),
    ...hooks.map((hook) => `would run ${hook}`),
    ...warnings.map((text) => `warning: ${text}`),
    ...problems.map((text) => `would fail: ${text}`),
  ].map(visibleLine);
}

function changeLines(change: ForecastChange): readonly string[] {
  const { action, group, kind, namespace, name, because } = change;
  const { fields = [], moreFields = 0 } = change;
  const type = group === '' ? kind : `${kind}.${group}`;
  const path = namespace === undefined ? name : `${namespace}/${name}`;
  return [
    `${words[action]} ${type} ${path}${because === undefined ? '' : ` (${because})`}`,
    ...fields.map((field) => `    ${fieldLine(field)}`),
    ...(moreFields === 0 ? [] : [`    … and ${moreFields} more fields`]),
  ];
}

function fieldLine({ path, before, after }: FieldChange): string {
  if (before === undefined) return `${path}: + ${after}`;
  return after === undefined ? `${path}: - ${before}` : `${path}: ${before} -> ${after}`;
}
