import type { Budget } from '../../../budget.ts';
import { type Node, operandsOf } from '../syntax.ts';
import type { CheckedRule } from '../types/check-rule.ts';
import { macros } from '../types/standard-library.ts';
import {
  always,
  collected,
  type Each,
  exactlyOne,
  type Fold,
  forEach,
  itself,
  quantified,
  type Run,
  type Scope,
} from './folds.ts';
import { functionOf, indexed } from './functions.ts';
import { choice, constant, listOf, logical, mapKeys, mapOf, strict } from './runs.ts';
import { Steps } from './steps.ts';
import {
  AbortedError,
  failed,
  Int,
  isMapValue,
  kindOf,
  type Result,
  TypeName,
  Uint,
  type Value,
  valueAt,
} from './values.ts';

/**
 * The outcome of a rule for the properties of one bundle: false also where its evaluation fails.
 * @throws RuleRefusedError when it takes too many steps.
 * @throws BudgetError
 */
export type Program = (properties: readonly object[], budget: Budget) => boolean;

export function compileRule({ node, typeNames }: CheckedRule): Program {
  const run = new Compiler(typeNames).compile(node);
  return (value, budget) => {
    try {
      const steps = new Steps(budget);
      return run({ name: 'properties', value, outer: undefined }, steps) === true;
    } catch (error) {
      if (error instanceof AbortedError) return false;
      throw error;
    }
  };
}

class Compiler {
  readonly #typeNames: ReadonlyMap<Node, string>;

  constructor(typeNames: ReadonlyMap<Node, string>) {
    this.#typeNames = typeNames;
  }

  compile(node: Node): Run {
    const run = this.#compiled(node);
    return (scope, steps) => {
      steps.take(1);
      return run(scope, steps);
    };
  }

  #compiled(node: Node): Run {
    const typeName = this.#typeNames.get(node);
    if (typeName !== undefined) return constant(new TypeName(typeName));
    switch (node.op) {
      case 'value':
        return constant(literal(node.args));
      case 'id':
        return (scope) => valueOf(node.args, scope);
      case '.':
        return this.#selection(node.args);
      case 'call':
        return this.#call(node);
      case 'rcall':
        return this.#memberCall(node);
      case 'list':
        return listOf(this.#all(node.args));
      case 'map':
        return mapOf(node.args.map((pair) => this.#all(pair)));
      default:
        return this.#operation(node);
    }
  }

  #all(nodes: readonly Node[]): readonly Run[] {
    return nodes.map((node) => this.compile(node));
  }

  #operation(node: Node): Run {
    switch (node.op) {
      case '&&':
        return logical(this.#all(operandsOf(node)), false);
      case '||':
        return logical(this.#all(operandsOf(node)), true);
      case '?:':
        return choice(this.#all(node.args));
      case '[]':
        return strict(this.#all(node.args), ([target, index]) =>
          indexed(target as Value, index as Value),
        );
      case '-_':
        if (node.args.op === 'value' && typeof node.args.args === 'bigint') {
          return constant(new Int(-node.args.args));
        }
        return strict([this.compile(node.args)], functionOf('-_'));
      case '!_':
        return strict([this.compile(node.args)], functionOf('!_'));
      default:
        return strict(this.#all(node.args as readonly Node[]), functionOf(node.op));
    }
  }

  #selection([target, field]: Extract<Node, { op: '.' }>['args']): Run {
    const operand = this.compile(target);
    return (scope, steps) => {
      const value = operand(scope, steps);
      if (value === failed || !isMapValue(value)) return failed;
      const found = valueAt(value, field);
      return found === undefined ? failed : found;
    };
  }

  #call({ args: [name, args] }: Extract<Node, { op: 'call' }>): Run {
    const [first] = args;
    if (name === 'has' && first?.op === '.') return this.#has(first.args);
    return strict(this.#all(args), functionOf(name));
  }

  #has([target, field]: Extract<Node, { op: '.' }>['args']): Run {
    const operand = this.compile(target);
    return (scope, steps) => {
      const value = operand(scope, steps);
      if (value === failed || kindOf(value) === 'list') return failed;
      return isMapValue(value) && valueAt(value, field) !== undefined;
    };
  }

  #memberCall(node: Extract<Node, { op: 'rcall' }>): Run {
    const [name, target, args] = node.args;
    if (macros.get(name)?.includes(args.length) !== true) {
      return strict(this.#all([target, ...args]), functionOf(name));
    }
    const range = this.compile(target);
    const fold = this.#macro(name, args);
    return (scope, steps) => {
      const over = range(scope, steps);
      if (over === failed) return failed;
      const items = Array.isArray(over) ? (over as readonly Value[]) : mapKeys(over, steps);
      return items === undefined ? failed : fold(items, scope, steps);
    };
  }

  #macro(name: string, args: readonly Node[]): Fold {
    const [variable, ...rest] = args as [Extract<Node, { op: 'id' }>, ...Node[]];
    const [first, second] = this.#all(rest).map((run) => forEach(variable.args, run));
    const predicate = first as Each;
    switch (name) {
      case 'all':
        return quantified(predicate, false);
      case 'exists':
        return quantified(predicate, true);
      case 'map':
        return second === undefined ? collected(always, predicate) : collected(predicate, second);
      case 'filter':
        return collected(predicate, itself);
      default:
        return exactlyOne(predicate);
    }
  }
}

function literal(value: Extract<Node, { op: 'value' }>['args']): Value {
  if (typeof value === 'bigint') return new Int(value);
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    return new Uint(value.value);
  }
  return value;
}

function valueOf(name: string, scope: Scope): Result {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at.value;
  return failed;
}
