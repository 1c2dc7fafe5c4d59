import { ExpressionError, type Node, parseExpression } from '../syntax.ts';
import { Checker } from './checker.ts';
import type { TypeScope } from './type-scope.ts';
import { listOf, mapOf, simpleTypes, TypeTooLargeError } from './types.ts';

/** The properties of a bundle; their values may be anything. */
const properties: TypeScope = {
  name: 'properties',
  type: listOf(mapOf(simpleTypes.string, simpleTypes.any)),
  outer: undefined,
};

export interface CheckedRule {
  readonly node: Node;
  /** The parts of it that are names of types. */
  readonly typeNames: ReadonlyMap<Node, string>;
}

/**
 * Parses a rule of OLM and checks its types, as cel-go does.
 * @throws ExpressionError for an invalid one.
 * @throws NoRuleError for a valid one that is no rule.
 */
export function checkRule(text: string): CheckedRule {
  const node = parseExpression(text);
  const checker = new Checker();
  try {
    const type = checker.check(node, properties);
    if (checker.problems.length > 0) throw new ExpressionError(text, checker.problems);
    if (type.kind !== 'bool') throw new NoRuleError('cel expressions must have type Bool');
    if (checker.invalidIndex !== undefined) throw new NoRuleError(checker.invalidIndex);
  } catch (error) {
    if (!(error instanceof TypeTooLargeError)) throw error;
    throw new ExpressionError(text, [{ at: 0, message: error.message }]);
  }
  return { node, typeNames: checker.typeNames };
}

/** A valid expression is no rule: its result is no bool, or cel-go makes no program of it. */
export class NoRuleError extends Error {
  override readonly name = 'NoRuleError';
}
