import { stringifyJson } from '../../../api/json.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { RulesByKind } from '../../../core/apply/health/rules/rules-by-kind.ts';
import { inProgress, type ObjectStatus } from '../../../core/apply/health/status.ts';
import type { InventoryEntry } from '../../../core/apply/inventory/inventory.ts';
import { systemClock } from '../../../core/clock.ts';
import type { ObjectJudge } from '../../../core/contracts/object-judge.ts';
import { errorMessage } from '../../../core/errors.ts';
import { openJudge } from '../../../core/manager/defaults/judge.ts';
import { silentLogger } from '../silent-logger.ts';

/** By entry; the built-in rules count for others. */
export type CustomStatuses = ReadonlyMap<InventoryEntry, ObjectStatus>;

export interface StatusesRequest {
  readonly deployment: BundleDeployment;
  readonly entries: readonly InventoryEntry[];
  readonly signal: AbortSignal;
}

/** What the deployment's own rules say of its objects, in a process within core's bounds. */
export async function customStatuses(request: StatusesRequest): Promise<CustomStatuses> {
  const judge = openJudge({ clock: systemClock, logger: silentLogger });
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
  const rules = spec.health?.rules ?? [];
  const byKind = new RulesByKind(rules);
  const judged = entries.flatMap((entry) => {
    const rule = byKind.find(entry.resource);
    return rule === undefined ? [] : [{ entry, rule, json: stringifyJson(entry.object) }];
  });
  if (judged.length === 0) return new Map();
  const { name: owner = '' } = metadata;
  try {
    const verdicts = await judge.judge({ owner, rules, objects: judged, signal });
    return new Map(judged.map(({ entry }, at) => [entry, verdicts[at] ?? inProgress('')]));
  } catch (error) {
    signal.throwIfAborted();
    const problem = inProgress(errorMessage(error));
    return new Map(judged.map(({ entry }) => [entry, problem]));
  }
}
