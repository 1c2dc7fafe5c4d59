import type { Literal } from './literal.ts';
import type { Consequences, Origin, Reason } from './reason.ts';

/** One of the literals is true. The first two are watched: no other one tells anything new. */
export class Clause implements Reason {
  readonly origin: Origin;
  readonly #literals: Literal[];

  constructor(literals: readonly Literal[], origin: Origin) {
    this.#literals = [...literals];
    this.origin = origin;
  }

  /** To be called once, before it is visited. */
  watch(): void {
    for (const literal of this.#literals.slice(0, 2)) literal.opposite.watchers.push(this);
  }

  visit(literal: Literal, trail: Consequences): boolean {
    const literals = this.#literals;
    const [first, second] = literals;
    if (first === undefined || second === undefined) return true;
    if (first === literal.opposite) {
      literals[0] = second;
      literals[1] = first;
    }
    const other = first === literal.opposite ? second : first;
    if (other.isTrue) return true;
    for (let at = 2; at < literals.length; at += 1) {
      const candidate = literals[at];
      if (candidate === undefined || candidate.opposite.isTrue) continue;
      trail.steps(at);
      literals[at] = literal.opposite;
      literals[1] = candidate;
      candidate.opposite.watchers.push(this);
      return false;
    }
    trail.steps(literals.length);
    if (other.opposite.isTrue) trail.broken(this);
    else trail.imply(other, this);
    return true;
  }

  forget(): void {}

  causes(literal?: Literal): readonly Literal[] {
    return this.#literals.filter((each) => each !== literal).map(({ opposite }) => opposite);
  }
}
