import type { Node } from '../syntax.ts';
import type { Type } from './types.ts';

/** Variables in scope, the innermost first. */
export type TypeScope =
  | { readonly name: string; readonly type: Type; readonly outer: TypeScope }
  | undefined;

export function variableOf(name: string, scope: TypeScope): Type | undefined {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at.type;
  return undefined;
}

/** `google.protobuf.Duration` as one name; undefined for a selection from a variable. */
export function qualifiedName(node: Node, scope: TypeScope): string | undefined {
  if (node.op === 'id') return variableOf(node.args, scope) === undefined ? node.args : undefined;
  if (node.op !== '.') return undefined;
  const target = qualifiedName(node.args[0], scope);
  return target === undefined ? undefined : `${target}.${node.args[1]}`;
}
