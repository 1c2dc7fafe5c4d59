import type { Condition } from '../../../api/meta.ts';
import { setCondition, withReadiness } from '../../../core/controller.ts';
import type { ConditionUpdate, Findings } from '../findings.ts';
import { dependenciesSatisfied, dependencyCondition } from './dependency-condition.ts';
import { deprecationConditions } from './deprecation.ts';
import { readinessOf } from './readiness.ts';

/** The conditions of a kind, with those that both kinds have. */
export function withConditions(
  findings: Findings,
  ofKind: readonly (ConditionUpdate | undefined)[],
): readonly Condition[] {
  const { extension, choice, clock } = findings;
  const observedGeneration = extension.object.metadata.generation;
  const dependency = dependencyCondition(findings);
  const updates = [...ofKind, ...deprecationConditions(findings), dependency];
  const isGone = choice.kind === 'resolved' && dependency === undefined;
  let conditions = isGone ? without(findings.conditions) : findings.conditions;
  for (const update of updates) {
    if (update === undefined) continue;
    conditions = setCondition(conditions, { ...update, observedGeneration }, clock);
  }
  return withReadiness(conditions, readinessOf(findings), clock);
}

function without(conditions: readonly Condition[]): readonly Condition[] {
  return conditions.filter(({ type }) => type !== dependenciesSatisfied);
}
