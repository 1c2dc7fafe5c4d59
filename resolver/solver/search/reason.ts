import type { Literal } from './literal.ts';

/** A rule that literals follow from. */
export interface Reason {
  readonly origin: Origin;
  /**
   * Looks at the rule after `literal` became true. False if the rule no longer watches that literal;
   * a rule that is broken is given to `broken`.
   */
  visit(literal: Literal, trail: Consequences): boolean;
  /** Of a literal that has become open again. */
  forget(literal: Literal): void;
  /** The true literals that made `literal` true; without one, those that break the rule. */
  causes(literal?: Literal): readonly Literal[];
}

/** The number of a constraint, or how a rule was learned from other ones. */
export type Origin = number | Derivation;

export interface Derivation {
  readonly reasons: readonly Reason[];
  /** Literals without decisions that it took for granted. */
  readonly facts: readonly Literal[];
}

/** What becomes of a rule that a literal has changed. */
export interface Consequences {
  imply(literal: Literal, reason: Reason): void;
  broken(reason: Reason): void;
  steps(count: number): void;
}
