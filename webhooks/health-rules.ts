import { isDeepStrictEqual } from 'node:util';
import type { HealthRule } from '../api/v1alpha1/deployment-policies.ts';
import type { DeploymentCheck } from './bundle-deployment.ts';

/** What is wrong with a rule, as one sentence that names the field; undefined where nothing is. */
export type RuleProblem = (rule: HealthRule, index: number) => string | undefined;

/** Refuses health rules that could judge nothing: else they would show as objects that failed. */
export function healthRulesCheck(ruleProblem: RuleProblem): DeploymentCheck {
  return ({ deployment, old }) => {
    const { rules = [] } = deployment.spec.health ?? {};
    // What is stored already must not stand in the way of other changes.
    if (isDeepStrictEqual(rules, old?.spec.health?.rules ?? [])) return undefined;
    for (const [index, rule] of rules.entries()) {
      const problem = ruleProblem(rule, index);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}
