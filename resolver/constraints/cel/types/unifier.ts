import {
  isDynamicOrError,
  listOf,
  mapOf,
  moreGeneral,
  sameType,
  simpleTypes,
  type Type,
  typeOf,
  variableType,
} from './types.ts';

/** The variables of types in one expression, and what they stand for. */
export class Unifier {
  readonly #bindings = new Map<number, Type>();
  /** What each change replaced, to take back changes of types that do not fit after all. */
  #changes: (readonly [number, Type | undefined])[] = [];
  #next = 0;

  newVariable(): Type {
    this.#next += 1;
    return variableType(this.#next - 1);
  }

  /** Whether each type fits the other one at its place; binds variables only if all of them do. */
  fit(types: readonly Type[], wanted: readonly Type[]): boolean {
    this.#changes = [];
    if (this.#allFit(types, wanted)) return true;
    for (const [variable, before] of this.#changes.toReversed()) {
      if (before === undefined) this.#bindings.delete(variable);
      else this.#bindings.set(variable, before);
    }
    return false;
  }

  /** The type without variables that stand for another; the others become `dyn` on request. */
  resolve(type: Type, freeVariables: 'keep' | 'dyn' = 'keep'): Type {
    const bound = this.#bound(type);
    if (bound !== undefined) return this.resolve(bound, freeVariables);
    if (type.kind === 'variable') return freeVariables === 'dyn' ? simpleTypes.dyn : type;
    const [first, second] = type.of.map((part) => this.resolve(part, freeVariables));
    if (first === undefined) return type;
    if (second !== undefined) return mapOf(first, second);
    return type.kind === 'list' ? listOf(first) : typeOf(first);
  }

  #bound({ variable }: Type): Type | undefined {
    return variable === undefined ? undefined : this.#bindings.get(variable);
  }

  #bind(variable: Type, type: Type): void {
    const number = variable.variable as number;
    this.#changes.push([number, this.#bindings.get(number)]);
    this.#bindings.set(number, type);
  }

  #allFit(types: readonly Type[], wanted: readonly Type[]): boolean {
    return (
      types.length === wanted.length &&
      types.every((type, at) => this.#fits(type, wanted[at] as Type))
    );
  }

  #fits(type: Type, wanted: Type): boolean {
    if (wanted.kind === 'variable') {
      const { isValid, isBound } = this.#substitutes(type, wanted);
      if (isValid || isBound) return isValid;
    }
    if (type.kind === 'variable') return this.#substitutes(wanted, type).isValid;
    return this.#fitsWithoutVariables(type, wanted);
  }

  #fitsWithoutVariables(type: Type, wanted: Type): boolean {
    if (isDynamicOrError(type) || isDynamicOrError(wanted)) return true;
    if (type.kind === 'null' || wanted.kind === 'null') {
      return [type, wanted].every(({ kind }) => nullable.has(kind));
    }
    if (type.kind !== wanted.kind) return false;
    return type.kind === 'type' || this.#allFit(type.of, wanted.of);
  }

  /** Whether a type may stand for a variable, and whether another one did before. */
  #substitutes(type: Type, variable: Type): { isValid: boolean; isBound: boolean } {
    if (sameType(type, variable)) return { isValid: true, isBound: true };
    const bound = this.#bound(variable);
    if (bound === undefined) {
      const isValid = !this.#isPartOf(variable, type);
      if (isValid) this.#bind(variable, type);
      return { isValid, isBound: false };
    }
    if (sameType(type, bound)) return { isValid: true, isBound: true };
    const isValid = this.#fits(type, bound);
    const general = moreGeneral(type, bound);
    if (isValid && !this.#isPartOf(variable, general)) this.#bind(variable, general);
    return { isValid, isBound: true };
  }

  #isPartOf(variable: Type, type: Type): boolean {
    if (sameType(variable, type)) return true;
    const bound = this.#bound(type);
    if (bound !== undefined) return this.#isPartOf(variable, bound);
    return type.of.some((part) => this.#isPartOf(variable, part));
  }
}

const nullable: ReadonlySet<string> = new Set(['null', 'duration', 'timestamp']);
