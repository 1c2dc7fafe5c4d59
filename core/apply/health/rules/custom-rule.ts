import { Environment } from '@marcbachmann/cel-js';
import type { KubernetesObject } from '../../../../api/meta.ts';
import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import { errorMessage } from '../../../errors.ts';
import { type CustomRule, current, failed, inProgress, type ObjectStatus } from '../status.ts';
import { estimateCost } from './cost-estimate.ts';

const maxMessage = 1_024;

/** Kubernetes' limit for one rule of a CRD. */
const maxCost = 10_000_000;

/**
 * A compiled rule of spec.health, for use in a worker process. A rule that is invalid CEL or too
 * expensive makes every object of its kind Failed, with a message that says so: a mistake must not
 * look like health.
 */
export function customRule(rule: HealthRule, index: number): CustomRule {
  const field = `spec.health.rules[${index}]`;
  try {
    const healthy = compiled(rule.healthy, `${field}.healthy`);
    const fails = rule.failed === undefined ? undefined : compiled(rule.failed, `${field}.failed`);
    const says =
      rule.message === undefined ? undefined : compiled(rule.message, `${field}.message`);
    return (object) => judge({ healthy, fails, says }, object);
  } catch (error) {
    const problem = failed(errorMessage(error));
    return () => problem;
  }
}

/** The problem of a rule's expressions; undefined when they are valid. Evaluates nothing. */
export function ruleProblem(rule: HealthRule, index: number): string | undefined {
  for (const field of ['healthy', 'failed', 'message'] as const) {
    const text = rule[field];
    if (text === undefined) continue;
    try {
      compiled(text, `spec.health.rules[${index}].${field}`);
    } catch (error) {
      return errorMessage(error);
    }
  }
  return undefined;
}

interface Compiled {
  readonly field: string;
  readonly expression: Expression;
}

interface CompiledRule {
  readonly healthy: Compiled;
  readonly fails: Compiled | undefined;
  readonly says: Compiled | undefined;
}

function compiled(text: string, field: string): Compiled {
  const expression = compile(text, field);
  if (expression.cost <= maxCost) return { field, expression };
  throw new Error(
    `${field} is too expensive: its estimated cost of ${shownCost(expression.cost)} exceeds the limit of ${maxCost}. Use fewer lists inside of lists, and shorter texts`,
  );
}

function compile(text: string, field: string): Expression {
  try {
    return compileExpression(text);
  } catch (error) {
    throw new Error(`${field} is not a valid CEL expression over self: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function shownCost(cost: number): string {
  return Number.isSafeInteger(Math.ceil(cost)) ? `${Math.ceil(cost)}` : cost.toExponential(1);
}

function judge({ healthy, fails, says }: CompiledRule, object: KubernetesObject): ObjectStatus {
  try {
    if (fails !== undefined && truth(fails, object)) return failed(text(says, fails, object));
    if (truth(healthy, object)) return current('Resource is current');
  } catch (error) {
    return inProgress(errorMessage(error));
  }
  return inProgress(text(says, healthy, object));
}

function truth({ field, expression }: Compiled, object: KubernetesObject): boolean {
  let value: unknown;
  try {
    value = expression.evaluate(object);
  } catch (error) {
    throw new Error(`${field}: ${errorMessage(error)}`, { cause: error });
  }
  if (typeof value === 'boolean') return value;
  throw new Error(`${field} returns ${shown(value)}: it must return true or false`);
}

function text(says: Compiled | undefined, rule: Compiled, object: KubernetesObject): string {
  const why = rule.field.endsWith('.failed') ? 'holds' : 'does not hold';
  const plain = `${rule.field} ${why}`;
  if (says === undefined) return plain;
  try {
    return sentence(says.expression.evaluate(object));
  } catch (error) {
    return `${plain} (${says.field}: ${errorMessage(error)})`;
  }
}

/** Refuses lists: a list that contains itself many times would be an endless text. */
function sentence(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, maxMessage);
  if (typeof value === 'bigint' || typeof value === 'number') return `${value}`;
  if (typeof value === 'boolean') return `${value}`;
  throw new Error(`returns ${shown(value)}: it must return a string, number or boolean`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}

/** UTF-16 units; the API server's limit. */
const maxLength = 4_096;
/** UTF-16 units; core does not read a longer result of an expression. */
const maxText = 1_000_000;

const environment = new Environment({
  enableOptionalTypes: true,
  limits: { maxAstNodes: 2_000, maxDepth: 64, maxListElements: 256, maxMapEntries: 256 },
}).registerVariable('self', 'map');

/** A CEL expression over one object. */
interface Expression {
  /** Maximum expected cost in Kubernetes' units for CEL. */
  readonly cost: number;
  /**
   * The result for an object. Nothing bounds the time and memory of this call: use it in worker
   * processes only.
   * @throws Error with one sentence.
   */
  evaluate(self: object): unknown;
}

/**
 * Parses an expression and checks its types, in a time that its length bounds; evaluates nothing.
 * @throws Error with one sentence when the text is not a CEL expression over `self`.
 */
export function compileExpression(text: string): Expression {
  const parsed = parse(text);
  const cost = estimateCost(parsed.ast);
  const { valid, error } = parsed.check();
  if (!valid) throw new Error(firstLine(error));
  return {
    cost,
    evaluate(self) {
      try {
        return short(parsed({ self }));
      } catch (error) {
        throw new Error(firstLine(error), { cause: error });
      }
    },
  };
}

function short(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= maxText) return value;
  throw new Error(`returns a text of more than ${maxText} characters`);
}

function parse(text: string) {
  if (text.length > maxLength) throw new Error(`it has more than ${maxLength} characters`);
  try {
    // One copy per expression, because an environment remembers every type that it compared.
    return environment.clone().parse(text);
  } catch (error) {
    throw new Error(firstLine(error), { cause: error });
  }
}

/** The lines after the first show the expression and mark the position. */
function firstLine(error: unknown): string {
  return errorMessage(error).split('\n')[0] ?? '';
}
