import { goQuote } from '../../api/go-quote.ts';
import type { Budget } from '../budget.ts';
import type { AppliedConstraint, Constraint, Variable } from './problem.ts';

/** Constraints by their numbers, in the order in which a search adds them. */
export type Constraints = ReadonlyMap<number, AppliedConstraint>;

/**
 * The constraints of variables by id, each once: of those that say the same the last one is named, in the
 * place of the first, which is that of its choice. What holds of one variable alone comes first, so that
 * it is what conflicts are about.
 */
export function numberedConstraints(variables: readonly Variable[], budget: Budget): Constraints {
  budget.takeSort(variables.length);
  const sorted = variables.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = new Set<string>();
  for (const { id } of sorted) {
    if (ids.has(id)) throw new TypeError(`duplicate identifier ${goQuote(id)} in input`);
    ids.add(id);
  }
  const found = new DistinctConstraints(budget);
  for (const { id, constraints } of sorted)
    for (const constraint of constraints) {
      const named = namedBy(constraint);
      budget.take(1 + named.length);
      checkIds(named, id, ids);
      found.add({ id, constraint });
    }
  return new Map([...found.ofOne, ...found.ofSeveral].entries());
}

function namedBy(constraint: Constraint): readonly string[] {
  if ('ids' in constraint) return constraint.ids;
  return 'id' in constraint ? [constraint.id] : [];
}

function checkIds(named: readonly string[], id: string, known: ReadonlySet<string>): void {
  const missing = named.find((each) => !known.has(each));
  if (missing === undefined) return;
  throw new TypeError(
    `variable ${goQuote(missing)} is referenced by ${goQuote(id)} but not provided`,
  );
}

class DistinctConstraints {
  readonly ofOne: AppliedConstraint[] = [];
  readonly ofSeveral: AppliedConstraint[] = [];
  readonly #budget: Budget;
  /** The places of constraints that others may equal, by variable or by what they limit. */
  readonly #places = new Map<string, number[]>();

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  add(applied: AppliedConstraint): void {
    const list = isOfOne(applied) ? this.ofOne : this.ofSeveral;
    const key = `${list === this.ofOne ? 'one' : 'several'} ${keyOf(applied)}`;
    const places = this.#places.get(key) ?? [];
    const place = places.find((each) => this.#isEqual(list[each], applied));
    list[place ?? list.length] = applied;
    if (place !== undefined) return;
    if (places.length === 0) this.#places.set(key, places);
    places.push(list.length - 1);
  }

  /** A conflict is an at-most constraint, and no candidate at all is a prohibition. */
  #isEqual(a: AppliedConstraint | undefined, b: AppliedConstraint): boolean {
    this.#budget.take(1);
    if (a === undefined) return false;
    // Of at-most constraints all that is limited is in the key.
    if (limitedBy(b) !== undefined) return countOf(a) === countOf(b);
    return kindOf(a) === kindOf(b) && this.#isSame(namedBy(a.constraint), namedBy(b.constraint));
  }

  #isSame(a: readonly string[], b: readonly string[]): boolean {
    if (a === b || a.length !== b.length) return a === b;
    const difference = a.findIndex((each, at) => each !== b[at]);
    this.#budget.take(difference === -1 ? a.length : difference);
    return difference === -1;
  }
}

function isOfOne({ id, constraint }: AppliedConstraint): boolean {
  switch (constraint.kind) {
    case 'dependency':
      return constraint.ids.length === 0;
    case 'conflict':
      return constraint.id === id;
    case 'at-most':
      return new Set(constraint.ids).size <= 1;
    default:
      return true;
  }
}

/** Equal for constraints that may say the same. */
function keyOf(applied: AppliedConstraint): string {
  const limited = limitedBy(applied);
  return limited === undefined ? `of ${applied.id}` : `at most ${limited.join('\0')}`;
}

function kindOf({ constraint: { kind } }: AppliedConstraint): string {
  return kind === 'prohibited' ? 'dependency' : kind;
}

function limitedBy({ id, constraint }: AppliedConstraint): readonly string[] | undefined {
  if (constraint.kind === 'conflict') return [id, constraint.id].sort();
  return constraint.kind === 'at-most' ? constraint.ids.toSorted() : undefined;
}

function countOf({ constraint }: AppliedConstraint): number {
  return constraint.kind === 'at-most' ? constraint.count : 1;
}
