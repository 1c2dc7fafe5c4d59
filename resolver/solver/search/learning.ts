import { Clause } from './clause.ts';
import { Literal } from './literal.ts';
import type { Reason } from './reason.ts';
import type { Trail } from './trail.ts';

export interface Lesson {
  readonly clause: Clause;
  /** The clause implies a literal when all decisions after this one are taken back. */
  readonly level: number;
}

/**
 * What the last decision teaches, after which `broken` is: the clause of the first literal that all
 * ways from the decision to the broken rule lead through (the first unique implication point).
 */
export function learn(trail: Trail, broken: Reason): Lesson {
  const conflict = new Conflict(trail.level);
  conflict.resolve(broken.causes(), broken);
  for (const literal of trail.backwards()) {
    if (!conflict.involves(literal)) continue;
    if (conflict.isLastOfLevel || literal.reason === undefined)
      return lessonOf(conflict, literal, trail);
    conflict.replace(literal, literal.reason);
  }
  throw new Error('A conflict has no decision: this is an error of the solver.');
}

/** Literals that cannot all be true. */
class Conflict {
  readonly reasons: Reason[] = [];
  readonly facts: Literal[] = [];
  /** Of decisions before the last one. */
  readonly earlier: Literal[] = [];
  readonly #level: number;
  readonly #seen = new Set<Literal>();
  #ofLevel = 0;

  constructor(level: number) {
    this.#level = level;
  }

  get isLastOfLevel(): boolean {
    return this.#ofLevel === 1;
  }

  involves(literal: Literal): boolean {
    return this.#seen.has(literal) && literal.level === this.#level;
  }

  replace(literal: Literal, reason: Reason): void {
    this.#ofLevel -= 1;
    this.resolve(reason.causes(literal), reason);
  }

  resolve(causes: readonly Literal[], reason: Reason): void {
    this.reasons.push(reason);
    for (const cause of causes) {
      if (this.#seen.has(cause)) continue;
      this.#seen.add(cause);
      if (cause.level === this.#level) this.#ofLevel += 1;
      else (cause.level === 0 ? this.facts : this.earlier).push(cause);
    }
  }
}

function lessonOf({ reasons, facts, earlier }: Conflict, point: Literal, trail: Trail): Lesson {
  // The last decision among them comes second: the clause watches its first two literals.
  const rest = earlier.toSorted((a, b) => b.position - a.position);
  trail.steps(earlier.length + reasons.length);
  const literals = [point, ...rest].map(({ opposite }) => opposite);
  return {
    clause: new Clause(literals, { reasons, facts }),
    level: rest[0]?.level ?? 0,
  };
}

/** The constraints that a rule follows from which is broken without any decision. */
export function constraintsBehind(broken: Reason): ReadonlySet<number> {
  const constraints = new Set<number>();
  const behind = new Set<Literal | Reason>([broken, ...broken.causes()]);
  // A walk of a set comes to what is added to it.
  for (const each of behind) {
    if (each instanceof Literal) {
      if (each.reason !== undefined) addAll(behind, [each.reason, ...each.reason.causes(each)]);
    } else if (typeof each.origin === 'number') constraints.add(each.origin);
    else addAll(behind, [...each.origin.reasons, ...each.origin.facts]);
  }
  return constraints;
}

function addAll<T>(set: Set<T>, added: readonly T[]): void {
  for (const each of added) set.add(each);
}
