import { stringifyJson } from '../../../api/json.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  type InventoryEntry,
  inProgress,
  type ObjectStatus,
  RulesByKind,
} from '../../../core/apply/index.ts';
import type { ObjectJudge } from '../../../core/contracts/object-judge.ts';
import { errorMessage } from '../../../core/errors.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { silentLogger } from '../silent-logger.ts';

/** As many as core has judged at once. */
const atOnce = 256;

/** By entry; the built-in rules count for others. */
export type CustomStatuses = ReadonlyMap<InventoryEntry, ObjectStatus>;

export interface StatusesRequest {
  readonly deployment: BundleDeployment;
  readonly entries: readonly InventoryEntry[];
  readonly signal: AbortSignal;
}

/** What the deployment's own rules say of its objects, in a process within core's bounds. */
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
  { deployment: { metadata, spec }, entries, signal }: StatusesRequest,
): Promise<CustomStatuses> {
  const { name: owner = '' } = metadata;
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
      const verdicts = await judge.judge({ owner, rules, objects, signal });
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

/** Why something cannot be done, in one sentence; undefined where it is done. */
async function problemOf(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}
