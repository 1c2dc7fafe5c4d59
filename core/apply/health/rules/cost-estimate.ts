import type { ASTNode } from '@marcbachmann/cel-js';
import {
  concatenated,
  type Estimate,
  eitherOf,
  listOf,
  methodCost,
  optionalOf,
  perCharacter,
  type Shape,
  scalar,
  textOf,
  unknown,
  weightOf,
} from './call-cost.ts';

type Scope = ReadonlyMap<string, Shape>;

/** UTF-8 bytes. */
const maxBytesPerCharacter = 3;

/**
 * Estimates the cost of an expression over an object with the bounds of `call-cost.ts`; evaluates
 * nothing.
 * @throws Error in one sentence when the expression nests too deep.
 */
export function estimateCost(node: ASTNode): number {
  return estimate(node, new Map()).cost;
}

function estimate(node: ASTNode, scope: Scope): Estimate {
  switch (node.op) {
    case 'value':
      return { cost: 0, shape: literalShape(node.args) };
    case 'id':
      return { cost: 1, shape: scope.get(node.args) ?? unknown };
    case '!_':
    case '-_':
      return { cost: 1 + estimate(node.args, scope).cost, shape: scalar };
    case 'call':
      return functionCall(node.args[0], estimateAll(node.args[1], scope));
    case 'rcall':
      return methodCall(node.args, scope);
    case 'list':
      return literal(estimateAll(node.args, scope), node.args.length);
    case 'map':
      return mapLiteral(node.args, scope);
    default:
      return operation(node, scope);
  }
}

type Operation = Exclude<
  ASTNode,
  { op: 'value' | 'id' | '!_' | '-_' | 'call' | 'rcall' | 'list' | 'map' }
>;

function operation(node: Operation, scope: Scope): Estimate {
  if (node.op === '.' || node.op === '.?') {
    const { cost, shape } = estimate(node.args[0], scope);
    return { cost: cost + 1, shape: node.op === '.' ? shape.item : optionalOf(shape.item) };
  }
  const [first, second, third] = estimateAll(node.args, scope) as [Estimate, Estimate, Estimate?];
  if (third !== undefined) {
    const cost = first.cost + Math.max(second.cost, third.cost);
    return { cost, shape: eitherOf(second.shape, third.shape) };
  }
  const { cost, shape } = binary(node.op, first.shape, second.shape);
  return { cost: first.cost + second.cost + cost, shape };
}

/** Cost of the operator alone. */
function binary(op: Operation['op'], left: Shape, right: Shape): Estimate {
  switch (op) {
    case '[]':
      return { cost: 1, shape: left.item };
    case '[?]':
      return { cost: 1, shape: optionalOf(left.item) };
    case '+': {
      const shape = concatenated(left, right);
      return { cost: 1 + shape.characters * perCharacter + shape.items, shape };
    }
    case '==':
    case '!=':
      return { cost: 1 + Math.min(weightOf(left), weightOf(right)), shape: scalar };
    case 'in': {
      const each = 1 + Math.min(weightOf(left), weightOf(right.item));
      return { cost: 1 + right.items * each, shape: scalar };
    }
    default: {
      const compared = Math.min(left.characters, right.characters);
      return { cost: 1 + compared * perCharacter, shape: scalar };
    }
  }
}

function literal(parts: readonly Estimate[], items: number): Estimate {
  const item = parts.map(({ shape }) => shape).reduce(eitherOf, scalar);
  return { cost: 1 + costOf(parts), shape: listOf(items, item) };
}

/** @throws Error when a key is a list or map. */
function mapLiteral(entries: Extract<ASTNode, { op: 'map' }>['args'], scope: Scope): Estimate {
  const parts = entries.flat().map((node, at) => {
    const part = estimate(node, scope);
    if (at % 2 === 0 && part.shape.depth > 0)
      throw new Error('a map key must not be a list or map');
    return part;
  });
  return literal(parts, entries.length);
}

function literalShape(value: unknown): Shape {
  if (typeof value === 'string') return textOf(value.length);
  return value instanceof Uint8Array ? textOf(value.byteLength) : scalar;
}

function functionCall(name: string, args: readonly Estimate[]): Estimate {
  const { shape: given = scalar } = args[0] ?? {};
  const cost = 1 + costOf(args) + charactersOf(args) * perCharacter;
  switch (name) {
    case 'bytes':
      return { cost, shape: textOf(given.characters * maxBytesPerCharacter) };
    case 'string':
      return { cost, shape: textOf(Math.max(given.characters, scalar.characters)) };
    case 'dyn':
      return { cost, shape: given };
    default:
      return { cost, shape: scalar };
  }
}

type MethodArguments = Extract<ASTNode, { op: 'rcall' }>['args'];

function methodCall([name, target, args]: MethodArguments, scope: Scope): Estimate {
  switch (name) {
    case 'all':
    case 'exists':
    case 'exists_one':
    case 'filter':
    case 'map':
      return comprehension([name, target, args], scope);
    case 'bind':
      return binding(args, scope);
    default: {
      const parts = estimateAll([target, ...args], scope);
      const [receiver, ...given] = parts as [Estimate, ...Estimate[]];
      const { cost, shape } = methodCost(name, receiver.shape, given.map(shapeOf));
      return { cost: costOf(parts) + cost, shape };
    }
  }
}

/** The inner expression is evaluated once per item, so nested comprehensions multiply. */
function comprehension([name, target, args]: MethodArguments, scope: Scope): Estimate {
  const over = estimate(target, scope);
  const [variable, ...rest] = args;
  const inner = withVariable(scope, variable, over.shape.item);
  const body = estimateAll(rest, inner);
  const { items } = over.shape;
  const cost = over.cost + 1 + items * (1 + costOf(body));
  if (name === 'map') return { cost, shape: listOf(items, body.at(-1)?.shape ?? scalar) };
  return { cost, shape: name === 'filter' ? over.shape : scalar };
}

/** `cel.bind(name, value, expression)` */
function binding([variable, ...rest]: readonly ASTNode[], scope: Scope): Estimate {
  const [value, expression] = rest;
  if (value === undefined || expression === undefined) return { cost: 0, shape: unknown };
  const bound = estimate(value, scope);
  const inner = estimate(expression, withVariable(scope, variable, bound.shape));
  return { cost: 1 + bound.cost + inner.cost, shape: inner.shape };
}

function withVariable(scope: Scope, variable: ASTNode | undefined, shape: Shape): Scope {
  return variable?.op === 'id' ? new Map([...scope, [variable.args, shape]]) : scope;
}

function estimateAll(nodes: readonly ASTNode[], scope: Scope): readonly Estimate[] {
  return nodes.map((node) => estimate(node, scope));
}

function costOf(parts: readonly Estimate[]): number {
  return parts.reduce((sum, { cost }) => sum + cost, 0);
}

function charactersOf(parts: readonly Estimate[]): number {
  return parts.reduce((sum, { shape }) => sum + shape.characters, 0);
}

function shapeOf({ shape }: Estimate): Shape {
  return shape;
}
