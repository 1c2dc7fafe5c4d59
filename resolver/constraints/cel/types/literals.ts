import type { Node } from '../syntax.ts';
import { simpleTypes, type Type } from './types.ts';

const maxInt = 2n ** 63n - 1n;

/** Undefined for an int that is too large. */
export function typeOfLiteral(value: unknown): Type | undefined {
  switch (typeof value) {
    case 'boolean':
      return simpleTypes.bool;
    case 'bigint':
      return value <= maxInt ? simpleTypes.int : undefined;
    case 'number':
      return simpleTypes.double;
    case 'string':
      return simpleTypes.string;
    default:
      if (value === null) return simpleTypes.null;
      return value instanceof Uint8Array ? simpleTypes.bytes : simpleTypes.uint;
  }
}

/** The problem of an index that is a constant of a type that no list or map is indexed with. */
export function invalidIndexOf(index: Node): string | undefined {
  if (index.op !== 'value') return undefined;
  const kind =
    index.args === null ? 'Null' : index.args instanceof Uint8Array ? 'Bytes' : undefined;
  return kind === undefined ? undefined : `invalid qualifier type: types.${kind}`;
}

type NumberLiteral = Extract<Node, { op: 'value' }>;

/** The grammar has negative numbers as literals: -9223372036854775808 has no positive one. */
export function isNegativeLiteral(operand: Node): operand is NumberLiteral {
  if (operand.op !== 'value') return false;
  const { args: value } = operand;
  return typeof value === 'number' || (typeof value === 'bigint' && value <= maxInt + 1n);
}

export function typeOfNegative(value: NumberLiteral['args']): Type {
  return typeof value === 'number' ? simpleTypes.double : simpleTypes.int;
}

/** The parser takes `-!x`, which cel-go's refuses; `!-1` has one sign and a literal. */
export function mixedSignsOf(node: Node): string | undefined {
  if (node.op !== '!_' && node.op !== '-_') return undefined;
  const { op, args: operand, start, input } = node;
  const isMixed = operand.op === (op === '!_' ? '-_' : '!_');
  if (!isMixed || input.slice(start, operand.start).includes('(')) return undefined;
  if (operand.op === '-_' && isNegativeLiteral(operand.args)) return undefined;
  const signs = `${op}${operand.op}`.replaceAll('_', '');
  return `Syntax error: no viable alternative at input '${signs}'`;
}
