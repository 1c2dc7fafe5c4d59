import { goQuote } from '../../api/go-quote.ts';
import { compileRule } from './cel/evaluation/evaluate.ts';
import { ExpressionError } from './cel/syntax.ts';
import { checkRule, NoRuleError } from './cel/types/check-rule.ts';
import type { Predicate } from './predicates.ts';
import { ConstraintError } from './requirement.ts';

/**
 * A CEL expression over the properties of one bundle.
 * @throws ConstraintError when it is invalid, or no rule.
 */
export function ruleOf(rule: string, failureMessage: string): Predicate {
  const holds = compileRule(checked(rule));
  return {
    text: `with constraint: ${goQuote(rule)} and message: ${goQuote(failureMessage)}`,
    test: ({ candidate: { properties }, budget }) => holds(properties, budget),
  };
}

/** Why a text is no CEL expression of an olm.constraint, in cel-go's words; undefined for a valid one. */
export function expressionProblem(rule: string): string | undefined {
  try {
    checked(rule);
    return undefined;
  } catch (error) {
    if (error instanceof ConstraintError) return error.message;
    throw error;
  }
}

function checked(rule: string) {
  try {
    return checkRule(rule);
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof NoRuleError)) throw error;
    throw new ConstraintError(error.message, { cause: error });
  }
}
