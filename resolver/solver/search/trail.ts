import type { Budget } from '../../budget.ts';
import type { AtMost } from './at-most.ts';
import type { Clause } from './clause.ts';
import type { Literal } from './literal.ts';
import type { Consequences, Reason } from './reason.ts';

/** The literals that are true, in the order in which they became so, and what follows from them. */
export class Trail implements Consequences {
  readonly #budget: Budget;
  readonly #literals: Literal[] = [];
  /** The length of the trail before each decision. */
  readonly #decisions: number[] = [];
  #visited = 0;
  #broken: Reason | undefined;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get level(): number {
    return this.#decisions.length;
  }

  /** Adds a rule, when all conclusions of the other ones are drawn. */
  add(rule: Clause | AtMost): void {
    rule.watch(this);
  }

  decide(literal: Literal): void {
    this.#decisions.push(this.#literals.length);
    this.#push(literal, undefined);
  }

  imply(literal: Literal, reason: Reason): void {
    if (literal.isTrue) return;
    if (literal.opposite.isTrue) this.broken(reason);
    else this.#push(literal, reason);
  }

  broken(reason: Reason): void {
    this.#broken ??= reason;
  }

  steps(count: number): void {
    this.#budget.take(count);
  }

  #push(literal: Literal, reason: Reason | undefined): void {
    literal.isTrue = true;
    literal.level = this.level;
    literal.position = this.#literals.length;
    literal.reason = reason;
    this.#literals.push(literal);
  }

  /** Draws all conclusions; returns a rule that is broken, if there is one. */
  propagate(): Reason | undefined {
    while (this.#broken === undefined) {
      const literal = this.#literals[this.#visited];
      if (literal === undefined) return undefined;
      this.#visited += 1;
      this.#budget.take(1 + literal.watchers.length);
      this.#visitWatchers(literal);
    }
    return this.#broken;
  }

  #visitWatchers(literal: Literal): void {
    const { watchers } = literal;
    let kept = 0;
    // A clause that moves its watch away from this literal adds itself to another one's watchers.
    for (const rule of watchers) {
      if (this.#broken !== undefined || rule.visit(literal, this)) {
        watchers[kept] = rule;
        kept += 1;
      }
    }
    watchers.length = kept;
  }

  /** From the last to the first. */
  *backwards(): Generator<Literal> {
    for (let at = this.#literals.length - 1; at >= 0; at -= 1) {
      const literal = this.#literals[at];
      if (literal !== undefined) yield literal;
    }
  }

  /** Takes decisions back, until `level` of them remain. */
  backTo(level: number): void {
    const start = this.#decisions[level] ?? this.#literals.length;
    for (const literal of this.#literals.slice(start)) {
      literal.isTrue = false;
      for (const rule of literal.watchers) rule.forget(literal);
    }
    this.#literals.length = start;
    this.#decisions.length = Math.min(level, this.#decisions.length);
    this.#visited = Math.min(this.#visited, start);
    this.#broken = undefined;
  }
}
