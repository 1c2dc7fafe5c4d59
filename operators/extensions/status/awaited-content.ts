import { kstatusCondition } from '../../../api/v1alpha1/index.ts';
import { findCondition } from '../../../core/controller.ts';
import type { Findings } from '../findings.ts';

/** Reason of Ready. */
export const catalogPending = 'CatalogPending';

/**
 * What the present spec waits for, for people. Undefined if something has been chosen, and for what
 * was installed before a restart: a spec that nobody has changed since says nothing new.
 */
export function awaitedContent(findings: Findings): string | undefined {
  const { choice, rollout, conditions, extension } = findings;
  if (choice.kind !== 'pending') return undefined;
  const ready = findCondition(conditions, kstatusCondition.ready);
  const { generation } = extension.object.metadata;
  const isKnown = ready?.observedGeneration === generation && ready?.reason !== catalogPending;
  return rollout !== undefined && isKnown ? undefined : choice.message;
}
