import { instantiated, overloads, typeNames } from './standard-library.ts';
import { type Node, operandsOf, type Problem, placeOf, tokenAfter } from './syntax.ts';
import {
  isDynamic,
  isDynamicOrError,
  listOf,
  mapOf,
  moreGeneral,
  sameType,
  simpleTypes,
  type Type,
  typeText,
} from './types.ts';
import { Unifier } from './unifier.ts';

/** Variables in scope, the innermost first. */
export type TypeScope =
  | { readonly name: string; readonly type: Type; readonly outer: TypeScope }
  | undefined;

export const macros: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
]);

interface Call {
  readonly node: Node;
  readonly name: string;
  readonly types: readonly Type[];
  readonly isMember?: boolean;
}

/** Finds the types of an expression and of its parts, and the problems of all of them. */
export class Checker {
  readonly problems: Problem[] = [];
  /** The parts that are names of types. */
  readonly typeNames = new Map<Node, string>();
  readonly #unifier = new Unifier();

  check(node: Node, scope: TypeScope): Type {
    switch (node.op) {
      case 'value':
        return this.#literal(node.args, node);
      case 'id':
        return this.#name(node.args, node, scope);
      case '.':
        return this.#selection(node, scope);
      case 'call':
        return this.#call(node, scope);
      case 'rcall':
        return this.#memberCall(node, scope);
      case 'list':
        return listOf(this.#joined(node.args, scope) ?? this.#unifier.newVariable());
      case 'map':
        return this.#map(node.args, scope);
      default:
        return this.#operation(node, scope);
    }
  }

  #problem(node: Node, message: string): Type {
    this.problems.push({ at: placeOf(node), message });
    return simpleTypes.error;
  }

  #literal(value: unknown, node: Node): Type {
    switch (typeof value) {
      case 'boolean':
        return simpleTypes.bool;
      case 'bigint':
        if (value <= maxInt) return simpleTypes.int;
        return this.#problem(node, 'invalid int literal');
      case 'number':
        return simpleTypes.double;
      case 'string':
        return simpleTypes.string;
      default:
        if (value === null) return simpleTypes.null;
        return value instanceof Uint8Array ? simpleTypes.bytes : simpleTypes.uint;
    }
  }

  #name(name: string, node: Node, scope: TypeScope): Type {
    const found = variableOf(name, scope) ?? this.#typeName(name, node);
    return found ?? this.#problem(node, undeclared(name));
  }

  #typeName(name: string, node: Node): Type | undefined {
    const type = typeNames.get(name);
    if (type !== undefined) this.typeNames.set(node, name);
    return type;
  }

  #selection(node: Extract<Node, { op: '.' }>, scope: TypeScope): Type {
    const qualified = qualifiedName(node, scope);
    const type = qualified === undefined ? undefined : this.#typeName(qualified, node);
    return type ?? this.#field(node, this.check(node.args[0], scope));
  }

  #field(node: Node, operand: Type): Type {
    const target = this.#unifier.resolve(operand);
    const [, value] = target.of;
    if (target.kind === 'map' && value !== undefined) return this.#unifier.resolve(value);
    if (target.kind === 'variable') {
      this.#unifier.fit([simpleTypes.dyn], [target]);
    } else if (!isDynamicOrError(target)) {
      this.#problem(node, `type '${typeText(target)}' does not support field selection`);
    }
    return simpleTypes.dyn;
  }

  #call(node: Extract<Node, { op: 'call' }>, scope: TypeScope): Type {
    const [name, args] = node.args;
    this.#wantNoTrailingComma(node, args);
    if (name === 'has' && args.length === 1) return this.#has(args[0] as Node, scope);
    const types = args.map((argument) => this.check(argument, scope));
    return this.#resolved({ node, name, types });
  }

  /** The parser takes one, cel-go's does not. */
  #wantNoTrailingComma(node: Node, args: readonly Node[]): void {
    const last = args.at(-1);
    const at = last === undefined ? node.end : tokenAfter(node.input, last.end, ',');
    if (at < node.end) this.problems.push({ at, message: "Syntax error: extraneous input ','" });
  }

  #has(argument: Node, scope: TypeScope): Type {
    if (argument.op !== '.') return this.#problem(argument, 'invalid argument to has() macro');
    this.#field(argument, this.check(argument.args[0], scope));
    return simpleTypes.bool;
  }

  #memberCall(node: Extract<Node, { op: 'rcall' }>, scope: TypeScope): Type {
    const [name, target, args] = node.args;
    this.#wantNoTrailingComma(node, args);
    if (macros.get(name)?.includes(args.length) === true) return this.#macro(node, scope);
    const types = args.map((argument) => this.check(argument, scope));
    return this.#resolved({
      node,
      name,
      types: [this.check(target, scope), ...types],
      isMember: true,
    });
  }

  #macro(node: Extract<Node, { op: 'rcall' }>, scope: TypeScope): Type {
    const [name, target, args] = node.args;
    const [variable, ...rest] = args as [Extract<Node, { op: 'id' }>, ...Node[]];
    const item = this.#itemOf(target, this.check(target, scope));
    const inner = { name: variable.args, type: item, outer: scope };
    const types = rest.map((argument) => this.check(argument, inner));
    const [first = simpleTypes.dyn, second] = types;
    const [predicate] = rest as [Node];
    if (name === 'all' || name === 'exists') {
      this.#wantBool(predicate, first);
      return simpleTypes.bool;
    }
    if (name === 'map' && second === undefined) return this.#unifier.resolve(listOf(first));
    const result = this.#unifier.resolve(listOf(second ?? item));
    const outcome = name === 'exists_one' ? simpleTypes.int : result;
    this.#resolved({ node, name: '_?_:_', types: [first, outcome, outcome] });
    return name === 'exists_one' ? simpleTypes.bool : result;
  }

  /** The type of what a macro goes through: items of a list, keys of a map. */
  #itemOf(node: Node, range: Type): Type {
    const type = this.#unifier.resolve(range);
    if (type.kind === 'list' || type.kind === 'map') return type.of[0] ?? simpleTypes.dyn;
    if (type.kind === 'dyn' || type.kind === 'error' || type.kind === 'variable') {
      this.#unifier.fit([simpleTypes.dyn], [type]);
      return simpleTypes.dyn;
    }
    const text = `expression of type '${typeText(type)}' cannot be range of a comprehension`;
    return this.#problem(node, `${text} (must be list, map, or dynamic)`);
  }

  #map(entries: Extract<Node, { op: 'map' }>['args'], scope: TypeScope): Type {
    const key = this.#joined(
      entries.map(([name]) => name),
      scope,
    );
    const value = this.#joined(
      entries.map(([, item]) => item),
      scope,
    );
    if (key === undefined || value === undefined) {
      return mapOf(this.#unifier.newVariable(), this.#unifier.newVariable());
    }
    return mapOf(key, value);
  }

  /** The type that all of them have, or `dyn`. */
  #joined(nodes: readonly Node[], scope: TypeScope): Type | undefined {
    return nodes
      .map((node) => this.check(node, scope))
      .reduce<Type | undefined>((before, type) => {
        if (before === undefined) return type;
        return this.#unifier.fit([before], [type]) ? moreGeneral(before, type) : simpleTypes.dyn;
      }, undefined);
  }

  #logical(node: Extract<Node, { op: '&&' | '||' }>, scope: TypeScope): Type {
    for (const operand of operandsOf(node)) this.#wantBool(operand, this.check(operand, scope));
    return simpleTypes.bool;
  }

  #wantBool(node: Node, type: Type): void {
    if (this.#unifier.fit([type], [simpleTypes.bool])) return;
    this.#problem(node, `expected type 'bool' but found '${typeText(type)}'`);
  }

  #operation(node: Node, scope: TypeScope): Type {
    if (node.op === '&&' || node.op === '||') return this.#logical(node, scope);
    if (node.op === '-_' && isNegativeLiteral(node.args)) return negative(node.args.args);
    const operands = (node.op === '!_' || node.op === '-_' ? [node.args] : node.args) as Node[];
    const types = operands.map((operand) => this.check(operand, scope));
    return this.#resolved({ node, name: operators[node.op] ?? `_${node.op}_`, types });
  }

  /** The result of the overload that fits; `dyn` when several do that differ in it. */
  #resolved({ node, name, types, isMember = false }: Call): Type {
    const known = overloads.get(name);
    if (known === undefined) return this.#problem(node, undeclared(name));
    let result: Type | undefined;
    for (const overload of known) {
      if (overload.isMember !== isMember) continue;
      const wanted = instantiated(overload, this.#unifier);
      if (!this.#unifier.fit(types, wanted.parameters)) continue;
      const found = this.#unifier.resolve(wanted.result);
      if (result === undefined) result = found;
      else if (!isDynamic(result) && !sameType(found, result)) result = simpleTypes.dyn;
    }
    return result ?? this.#problem(node, this.#noOverload(name, types, isMember));
  }

  #noOverload(name: string, types: readonly Type[], isMember: boolean): string {
    const texts = types.map((type) => typeText(this.#unifier.resolve(type, 'dyn')));
    const receiver = isMember ? `${texts.shift() ?? ''}.` : '';
    return `found no matching overload for '${name}' applied to '${receiver}(${texts.join(', ')})'`;
  }
}

const maxInt = 2n ** 63n - 1n;

const operators: Readonly<Partial<Record<Node['op'], string>>> = {
  '!_': '!_',
  '-_': '-_',
  '[]': '_[_]',
  '?:': '_?_:_',
  in: '@in',
};

function variableOf(name: string, scope: TypeScope): Type | undefined {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at.type;
  return undefined;
}

function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}

/** `google.protobuf.Duration` as one name; undefined for a selection from a variable. */
function qualifiedName(node: Node, scope: TypeScope): string | undefined {
  if (node.op === 'id') return variableOf(node.args, scope) === undefined ? node.args : undefined;
  if (node.op !== '.') return undefined;
  const target = qualifiedName(node.args[0], scope);
  return target === undefined ? undefined : `${target}.${node.args[1]}`;
}

type NumberLiteral = Extract<Node, { op: 'value' }>;

/** The grammar has negative numbers as literals: -9223372036854775808 has no positive one. */
function isNegativeLiteral(operand: Node): operand is NumberLiteral {
  if (operand.op !== 'value') return false;
  const { args: value } = operand;
  return typeof value === 'number' || (typeof value === 'bigint' && value <= maxInt + 1n);
}

function negative(value: NumberLiteral['args']): Type {
  return typeof value === 'number' ? simpleTypes.double : simpleTypes.int;
}
