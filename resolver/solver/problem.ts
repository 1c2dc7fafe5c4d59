/** A thing that a solution has or does not have, and what has to hold if it has it. */
export interface Variable {
  readonly id: string;
  readonly constraints: readonly Constraint[];
}

/** `text` tells it to a person where the ids do not. */
export type Constraint = (
  | { readonly kind: 'mandatory' }
  | { readonly kind: 'prohibited' }
  /** One of them at least, the first one by preference; none of them: it cannot be satisfied. */
  | { readonly kind: 'dependency'; readonly ids: readonly string[] }
  | { readonly kind: 'conflict'; readonly id: string }
  /** No more than `count` of them, whether the variable itself is selected or not. */
  | { readonly kind: 'at-most'; readonly count: number; readonly ids: readonly string[] }
) & { readonly text?: string };

/** A constraint with the id of the variable that it is of. */
export interface AppliedConstraint {
  readonly id: string;
  readonly constraint: Constraint;
}

export type Solution =
  | { readonly kind: 'satisfied'; readonly selected: ReadonlySet<string> }
  /**
   * Constraints that cannot hold together; without any one of them the rest can. Further ones may be
   * among them if finding that out takes more steps than allowed.
   */
  | { readonly kind: 'unsatisfiable'; readonly conflicts: readonly AppliedConstraint[] };
