import type { AppliedConstraint } from '../problem.ts';
import { AtMost } from './at-most.ts';
import { Clause } from './clause.ts';
import { Literal } from './literal.ts';
import type { Trail } from './trail.ts';

/** The literals of a problem's variables. */
export class Literals {
  readonly #byId = new Map<string, Literal>();

  of(id: string): Literal {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const literal = new Literal(id);
    this.#byId.set(id, literal);
    return literal;
  }

  all(ids: readonly string[]): readonly Literal[] {
    return ids.map((id) => this.of(id));
  }
}

/** Adds the constraint to the trail; `number` is its origin there. */
export function addConstraint(
  trail: Trail,
  literals: Literals,
  [number, { id, constraint }]: readonly [number, AppliedConstraint],
): void {
  if (constraint.kind === 'at-most') {
    trail.add(new AtMost(constraint.count, literals.all(constraint.ids), number));
    return;
  }
  // Which requires itself requires nothing.
  if (constraint.kind === 'dependency' && constraint.ids.includes(id)) return;
  const alternatives = alternativesOf({ id, constraint }, literals);
  trail.steps(alternatives.length);
  trail.add(new Clause(alternatives, number));
}

/** The literals of which one at least is true. */
function alternativesOf(
  { id, constraint }: AppliedConstraint,
  literals: Literals,
): readonly Literal[] {
  const literal = literals.of(id);
  switch (constraint.kind) {
    case 'mandatory':
      return [literal];
    case 'prohibited':
      return [literal.opposite];
    case 'dependency':
      return [...new Set([literal.opposite, ...literals.all(constraint.ids)])];
    case 'conflict':
      return [...new Set([literal.opposite, literals.of(constraint.id).opposite])];
    default:
      return [];
  }
}
