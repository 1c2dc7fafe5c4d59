import type { Condition } from '../../api/meta.ts';
import { kstatusCondition } from '../../api/v1alpha1/conditions.ts';

const types: ReadonlySet<string> = new Set(Object.values(kstatusCondition));

/** Whether a condition sums up the others: RukPak has none of these. */
export function isSummary({ type }: { readonly type: string }): boolean {
  return types.has(type);
}

/** The status as RukPak would have it: without the conditions that sum the others up. */
export function withoutSummary<T extends { readonly conditions?: Condition[] | undefined }>(
  status: T,
): T {
  const { conditions } = status;
  if (conditions === undefined) return status;
  return { ...status, conditions: conditions.filter((condition) => !isSummary(condition)) };
}

/** `<type> <status> <reason>: <message>` of each condition. */
export function conditionLines(conditions: readonly Condition[] = []): string[] {
  return conditions.map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  );
}
