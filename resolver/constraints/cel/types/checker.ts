import { type Node, operandsOf, type Problem, placeOf, tokenAfter } from '../syntax.ts';
import {
  invalidIndexOf,
  isNegativeLiteral,
  mixedSignsOf,
  typeOfLiteral,
  typeOfNegative,
} from './literals.ts';
import { type Call, resultOf, undeclared } from './overload-resolution.ts';
import { macros, operators, typeNames } from './standard-library.ts';
import { qualifiedName, type TypeScope, variableOf } from './type-scope.ts';
import {
  isDynamicOrError,
  listOf,
  mapOf,
  moreGeneral,
  simpleTypes,
  type Type,
  typeText,
} from './types.ts';
import { Unifier } from './unifier.ts';

type MemberCall = Extract<Node, { op: 'rcall' }>;

interface CheckedCall extends Call {
  readonly node: Node;
}

/** Finds the types of an expression and of its parts, and the problems of all of them. */
export class Checker {
  readonly #problems: Problem[] = [];
  readonly #syntaxProblems: Problem[] = [];
  /** The parts that are names of types. */
  readonly typeNames = new Map<Node, string>();
  readonly #unifier = new Unifier();
  #hasMacro = false;
  /** The problem of an index that is a constant, which cel-go finds last. */
  invalidIndex: string | undefined;

  /** Those of types only if the syntax has none. */
  get problems(): readonly Problem[] {
    return this.#syntaxProblems.length > 0 ? this.#syntaxProblems : this.#problems;
  }

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
        return this.#list(node.args, scope);
      case 'map':
        return this.#map(node.args, scope);
      default:
        return this.#operation(node, scope);
    }
  }

  #problem(node: Node, message: string): Type {
    this.#problems.push({ at: placeOf(node), message });
    return simpleTypes.error;
  }

  /** cel-go finds it before it checks types. */
  #syntaxProblem(at: number, message: string): Type {
    this.#syntaxProblems.push({ at, message });
    return simpleTypes.error;
  }

  #literal(value: unknown, node: Node): Type {
    const type = typeOfLiteral(value);
    return type ?? this.#syntaxProblem(placeOf(node), 'invalid int literal');
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
    if (name === 'has' && args.length === 1) return this.#has(args[0] as Node, scope, node);
    const types = args.map((argument) => this.check(argument, scope));
    return this.#resolved({ node, name, types });
  }

  /** The parser takes one, cel-go's does not. */
  #wantNoTrailingComma(node: Node, args: readonly Node[]): void {
    const last = args.at(-1);
    const at = last === undefined ? node.end : tokenAfter(node.input, last.end, ',');
    if (at < node.end) this.#syntaxProblem(at, "Syntax error: extraneous input ','");
  }

  #has(argument: Node, scope: TypeScope, node: Node): Type {
    if (argument.op !== '.')
      return this.#syntaxProblem(placeOf(argument), 'invalid argument to has() macro');
    this.#field(node, this.check(argument.args[0], scope));
    return simpleTypes.bool;
  }

  #memberCall(node: MemberCall, scope: TypeScope): Type {
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

  #macro(node: MemberCall, scope: TypeScope): Type {
    const [name, target, args] = node.args;
    const [variable, ...rest] = args as [Extract<Node, { op: 'id' }>, ...Node[]];
    const range = this.check(target, scope);
    this.#hasMacro = true;
    const item = this.#itemOf(target, range);
    const inner = { name: variable.args, type: item, outer: scope };
    if (name === 'map') return this.#listMacro(node, { rest, inner });
    if (name === 'filter') return this.#listMacro(node, { rest, inner, made: item });
    const [predicate] = rest as [Node];
    const type = this.check(predicate, inner);
    if (name === 'exists_one') this.#counted(node, type);
    else this.#wantBool(predicate, type);
    return simpleTypes.bool;
  }

  /** As what cel-go makes of it: `predicate ? count + 1 : count`, and `count == 1`. */
  #counted(node: Node, predicate: Type): void {
    const { int } = simpleTypes;
    const sum = this.#resolved({ node, name: '_+_', types: [int, int] });
    this.#resolved({ node, name: '_?_:_', types: [predicate, sum, int] });
    this.#resolved({ node, name: '_==_', types: [int, int] });
  }

  /** As what cel-go makes of it: `predicate ? list + [made] : list`. */
  #listMacro(
    node: Node,
    { rest, inner, made }: { rest: readonly Node[]; inner: TypeScope; made?: Type },
  ): Type {
    const list = listOf(this.#unifier.newVariable());
    const types = rest.map((argument) => this.check(argument, inner));
    const item = listOf(made ?? types.at(-1) ?? simpleTypes.dyn);
    const sum = this.#resolved({ node, name: '_+_', types: [list, item] });
    const [predicate] = made === undefined && types.length === 1 ? [] : types;
    const step =
      predicate === undefined
        ? sum
        : this.#resolved({ node, name: '_?_:_', types: [predicate, sum, list] });
    this.#unifier.fit([list], [step]);
    return this.#unifier.resolve(list);
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

  #list(items: readonly Node[], scope: TypeScope): Type {
    const item = this.#joined(items.map((node) => this.check(node, scope)));
    return listOf(item ?? this.#unifier.newVariable());
  }

  #map(entries: Extract<Node, { op: 'map' }>['args'], scope: TypeScope): Type {
    const types = entries.map((entry) => entry.map((node) => this.check(node, scope)));
    const [key, value] = [0, 1].map((at) => this.#joined(types.map((pair) => pair[at] as Type)));
    if (key !== undefined && value !== undefined) return mapOf(key, value);
    return mapOf(this.#unifier.newVariable(), this.#unifier.newVariable());
  }

  /** The type that all of them have, or `dyn`. */
  #joined(types: readonly Type[]): Type | undefined {
    return types.reduce<Type | undefined>((before, type) => {
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
    if (node.op === '-_' && isNegativeLiteral(node.args)) return typeOfNegative(node.args.args);
    const problem = mixedSignsOf(node);
    if (problem !== undefined) this.#syntaxProblem(node.start, problem);
    const operands = [node.args].flat().filter((argument) => typeof argument === 'object');
    const types = (operands as readonly Node[]).map((operand) => this.check(operand, scope));
    if (node.op === '[]') this.invalidIndex ??= invalidIndexOf(node.args[1]);
    return this.#resolved({ node, name: operators[node.op] ?? `_${node.op}_`, types });
  }

  #resolved({ node, ...call }: CheckedCall): Type {
    const result = resultOf(call, this.#unifier, this.#hasMacro);
    return typeof result === 'string' ? this.#problem(node, result) : result;
  }
}
