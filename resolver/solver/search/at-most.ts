import type { Literal } from './literal.ts';
import type { Consequences, Reason } from './reason.ts';

/** No more than `count` of the literals are true; one that is listed twice counts twice. */
export class AtMost implements Reason {
  readonly origin: number;
  readonly #count: number;
  readonly #weights: ReadonlyMap<Literal, number>;
  readonly #heaviest: number;
  /** The literals that are true and have been visited, in that order. */
  readonly #selected = new Set<Literal>();
  #sum = 0;

  constructor(count: number, literals: readonly Literal[], origin: number) {
    this.#count = count;
    this.origin = origin;
    const weights = new Map<Literal, number>();
    for (const literal of literals) weights.set(literal, (weights.get(literal) ?? 0) + 1);
    this.#weights = weights;
    this.#heaviest = Math.max(0, ...new Set(weights.values()));
  }

  /** To be called once, when all conclusions of the other rules are drawn. */
  watch(trail: Consequences): void {
    for (const literal of this.#weights.keys()) {
      literal.watchers.push(this);
      if (literal.isTrue) this.#select(literal);
    }
    this.#conclude(trail);
  }

  visit(literal: Literal, trail: Consequences): boolean {
    this.#select(literal);
    this.#conclude(trail);
    return true;
  }

  #select(literal: Literal): void {
    this.#selected.add(literal);
    this.#sum += this.#weights.get(literal) ?? 0;
  }

  /** What is too heavy besides the selected ones is out. */
  #conclude(trail: Consequences): void {
    if (this.#sum > this.#count) {
      trail.broken(this);
      return;
    }
    if (this.#sum + this.#heaviest <= this.#count) return;
    trail.steps(this.#weights.size);
    for (const [literal, weight] of this.#weights) {
      if (literal.isOpen && this.#sum + weight > this.#count) trail.imply(literal.opposite, this);
    }
  }

  forget(literal: Literal): void {
    if (this.#selected.delete(literal)) this.#sum -= this.#weights.get(literal) ?? 0;
  }

  causes(literal?: Literal): readonly Literal[] {
    if (literal === undefined) return [...this.#selected];
    return [...this.#selected].filter(({ position }) => position < literal.position);
  }
}
