import type { Literal } from './literal.ts';
import type { Consequences, Origin, Reason } from './reason.ts';

function falseLast(a: Literal, b: Literal): number {
  return Number(a.opposite.isTrue) - Number(b.opposite.isTrue);
}

/** One of the literals is true. The first two are watched: no other one tells anything new. */
export class Clause implements Reason {
  readonly origin: Origin;
  readonly #literals: Literal[];

  constructor(literals: readonly Literal[], origin: Origin) {
    this.#literals = [...literals];
    this.origin = origin;
  }

  /** To be called once, when all conclusions of the other rules are drawn. */
  watch(trail: Consequences): void {
    const [first, second] = this.#literals.sort(falseLast);
    for (const literal of this.#literals.slice(0, 2)) literal.opposite.watchers.push(this);
    if (first === undefined || first.opposite.isTrue) trail.broken(this);
    else if (second === undefined || second.opposite.isTrue) trail.imply(first, this);
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
