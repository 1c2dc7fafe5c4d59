import { Checker, type TypeScope } from './checker.ts';
import { ExpressionError, type Node, parseExpression } from './syntax.ts';
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
 * @throws NotBooleanError for one of another type.
 */
export function checkRule(text: string): CheckedRule {
  const node = parseExpression(text);
  const checker = new Checker();
  try {
    const type = checker.check(node, properties);
    if (checker.problems.length > 0) throw new ExpressionError(text, checker.problems);
    if (type.kind !== 'bool') throw new NotBooleanError('cel expressions must have type Bool');
  } catch (error) {
    if (!(error instanceof TypeTooLargeError)) throw error;
    throw new ExpressionError(text, [{ at: 0, message: error.message }]);
  }
  return { node, typeNames: checker.typeNames };
}

/** A valid expression is no rule: its result is something else than true or false. */
export class NotBooleanError extends Error {
  override readonly name = 'NotBooleanError';
}
