import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { creatorOf } from '../../../api/v1alpha1/rules/creator.ts';
import {
  apiServiceProblem,
  computeStatus,
  type InventoryEntry,
  inKindOrder,
  inProgress,
  isHookObject,
  type ObjectStatus,
  RulesByKind,
} from '../../../core/apply/index.ts';
import type { ObjectJudge } from '../../../core/contracts/object-judge.ts';
import { errorMessage } from '../../../core/errors.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { silentLogger } from '../output/loggers.ts';

/** One object of a deployment. */
export interface ObjectReport {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** From kstatus; `Current` is healthy. */
  readonly status: string;
  readonly message: string;
  /**
   * Set for an object of a hook: core does not keep it in place, and the deployment's health
   * ignores it.
   */
  readonly hook?: true;
}

/** The objects of a deployment, in the order of installation. `now` is in milliseconds. */
export function objectReports(
  owned: readonly InventoryEntry[],
  custom: CustomStatuses,
  now: number,
): readonly ObjectReport[] {
  // One object may be listed in two versions.
  const entries = new Map(owned.map((entry) => [entry.id, entry]));
  return inKindOrder([...entries.values()])
    .flatMap((group) => group.toSorted((a, b) => a.id.localeCompare(b.id)))
    .map((entry) => objectReport(entry, now, custom.get(entry)));
}

function objectReport(
  { object, resource, key }: InventoryEntry,
  now: number,
  custom: ObjectStatus | undefined,
): ObjectReport {
  const { apiVersion, kind } = object;
  const { namespace, name } = key;
  const isApiService =
    resource.group === 'apiregistration.k8s.io' && resource.kind === 'APIService';
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(isApiService && custom === undefined
      ? apiServiceStatus(object)
      : statusOf(object, now, custom)),
    ...(isHookObject(object) ? { hook: true } : {}),
  };
}

function statusOf(
  object: KubernetesObject,
  now: number,
  custom: ObjectStatus | undefined,
): Pick<ObjectReport, 'status' | 'message'> {
  const { status, message } = computeStatus(object, now, custom && (() => custom));
  return { status, message };
}

function apiServiceStatus(object: KubernetesObject): Pick<ObjectReport, 'status' | 'message'> {
  const problem = apiServiceProblem(object);
  return problem === undefined
    ? { status: 'Current', message: 'APIService is available' }
    : { status: 'InProgress', message: problem };
}

export function isHealthy({ status }: ObjectReport): boolean {
  return status === 'Current';
}

/**
 * The arguments that name the object in a kubectl command: `deployment.apps web --namespace shop`.
 */
export function objectArguments({ apiVersion, kind, namespace, name }: ObjectReport): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  const place = namespace === undefined ? '' : ` --namespace ${namespace}`;
  return `${kind.toLowerCase()}${group} ${name}${place}`;
}

/** As many as core judges per call. */
const atOnce = 256;

/** By entry; built-in rules judge all others. */
type CustomStatuses = ReadonlyMap<InventoryEntry, ObjectStatus>;

interface StatusesRequest {
  readonly deployment: BundleDeployment;
  readonly entries: readonly InventoryEntry[];
  readonly signal: AbortSignal;
}

/** The verdicts of the deployment's own rules, from a process within core's limits. */
export async function customStatuses(request: StatusesRequest): Promise<CustomStatuses> {
  if (request.deployment.spec.health?.rules === undefined) return new Map();
  const [{ defaultMemoryBudget, openJudge }, { ByteBudget }] = await Promise.all([
    import('../../../core/manager/index.ts'),
    import('../../../core/platform/runtime/index.ts'),
  ]);
  const memory = new ByteBudget({ bytes: defaultMemoryBudget(), clock: systemClock });
  const judge = openJudge({ memory, clock: systemClock, logger: silentLogger });
  try {
    return await judgedBy(judge, request);
  } finally {
    await judge.close();
  }
}

export async function judgedBy(
  judge: ObjectJudge,
  { deployment, entries, signal }: StatusesRequest,
): Promise<CustomStatuses> {
  const { metadata, spec } = deployment;
  const { name: owner = '' } = metadata;
  const creator = creatorOf(deployment);
  const rules = spec.health?.rules ?? [];
  const byKind = new RulesByKind(rules);
  const judged = entries.flatMap((entry) => {
    const rule = byKind.find(entry.resource);
    return rule === undefined ? [] : [{ entry, rule }];
  });
  const statuses = new Map<InventoryEntry, ObjectStatus>();
  const failure = await problemOf(async () => {
    for (let start = 0; start < judged.length; start += atOnce) {
      const some = judged.slice(start, start + atOnce);
      const objects = some.map(({ entry, rule }) => ({ rule, json: stringifyJson(entry.object) }));
      const verdicts = await judge.judge({ owner, creator, rules, objects, signal });
      for (const [at, verdict] of verdicts.entries()) {
        const entry = some[at]?.entry;
        if (entry !== undefined) statuses.set(entry, verdict);
      }
    }
  });
  signal.throwIfAborted();
  if (failure === undefined) return statuses;
  const others = judged.filter(({ entry }) => !statuses.has(entry));
  for (const { entry } of others) statuses.set(entry, inProgress(failure));
  return statuses;
}

/** The error in one sentence; undefined after a success. */
async function problemOf(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
