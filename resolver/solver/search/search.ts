import type { Budget } from '../../budget.ts';
import type { Constraints } from '../numbered-constraints.ts';
import { constraintsBehind, learn } from './learning.ts';
import type { Literal } from './literal.ts';
import type { Reason } from './reason.ts';
import { addConstraint, Literals } from './rules.ts';
import { Trail } from './trail.ts';

export type Answer =
  | { readonly kind: 'satisfied'; readonly selected: ReadonlySet<string> }
  /** Numbers of constraints that cannot hold together. */
  | { readonly kind: 'unsatisfiable'; readonly core: ReadonlySet<number> };

/**
 * Finds the solution that comes first by preference: selects mandatory variables, then for each
 * dependency of what is selected (in the order of selection, breadth first) the first candidate with
 * which a solution exists. Selects nothing else.
 *
 * Decides in that very order and learns from each conflict. A candidate is passed over only if what
 * is selected before it excludes it, so learning saves work and never changes the answer.
 */
export function search(constraints: Constraints, budget: Budget): Answer {
  const literals = new Literals();
  const trail = new Trail(budget);
  const selection = new Selection(constraints, literals);
  budget.take(constraints.size);
  for (const numbered of constraints) {
    addConstraint(trail, literals, numbered);
    // The first constraint that cannot be added decides what a core is about.
    if (trail.propagate() !== undefined) break;
  }
  for (;;) {
    const broken = trail.propagate();
    if (broken === undefined) {
      const decision = selection.next(trail);
      if (decision === undefined) return { kind: 'satisfied', selected: selection.ids };
      trail.decide(decision);
    } else {
      if (trail.level === 0) return { kind: 'unsatisfiable', core: constraintsBehind(broken) };
      learnFrom(broken, trail, selection);
    }
  }
}

function learnFrom(broken: Reason, trail: Trail, selection: Selection): void {
  const { clause, level } = learn(trail, broken);
  trail.backTo(level);
  selection.backTo(level);
  trail.add(clause);
}

interface Selected {
  readonly literal: Literal;
  /** Of the decisions when it was selected. */
  readonly level: number;
  /** The choice that it was selected for. */
  readonly choice: number;
  /** The number of choices before its own dependencies were added. */
  readonly choices: number;
}

/** What is selected so far, and the choices that it asks for: the first of each is preferred. */
class Selection {
  readonly #dependencies = new Map<Literal, (readonly Literal[])[]>();
  readonly #choices: (readonly Literal[])[] = [];
  #nextChoice = 0;
  readonly #selected: Selected[] = [];
  readonly #literals = new Set<Literal>();

  constructor(constraints: Constraints, literals: Literals) {
    const anchors = new Set<Literal>();
    for (const { id, constraint } of constraints.values()) {
      if (constraint.kind === 'mandatory') anchors.add(literals.of(id));
      if (constraint.kind === 'dependency' && constraint.ids.length > 0)
        this.#addDependency(literals.of(id), literals.all(constraint.ids));
    }
    for (const anchor of anchors) this.#choices.push([anchor]);
  }

  #addDependency(literal: Literal, candidates: readonly Literal[]): void {
    const known = this.#dependencies.get(literal);
    if (known === undefined) this.#dependencies.set(literal, [candidates]);
    else known.push(candidates);
  }

  get ids(): ReadonlySet<string> {
    return new Set([...this.#literals].map(({ id }) => id));
  }

  /** Selects until something has to be decided; undefined if nothing is left to select. */
  next(trail: Trail): Literal | undefined {
    for (;;) {
      const choice = this.#choices[this.#nextChoice];
      if (choice === undefined) return undefined;
      this.#nextChoice += 1;
      trail.steps(choice.length);
      if (choice.some((candidate) => this.#literals.has(candidate))) continue;
      const candidate = choice.find(({ opposite }) => !opposite.isTrue);
      if (candidate === undefined) throw new Error('No candidate is left: an error of the solver.');
      this.#select(candidate, candidate.isTrue ? trail.level : trail.level + 1);
      if (!candidate.isTrue) return candidate;
    }
  }

  #select(literal: Literal, level: number): void {
    const choice = this.#nextChoice - 1;
    this.#selected.push({ literal, level, choice, choices: this.#choices.length });
    this.#literals.add(literal);
    this.#choices.push(...(this.#dependencies.get(literal) ?? []));
  }

  backTo(level: number): void {
    for (
      let last = this.#selected.at(-1);
      (last?.level ?? 0) > level;
      last = this.#selected.at(-1)
    ) {
      if (last === undefined) return;
      this.#selected.pop();
      this.#literals.delete(last.literal);
      this.#choices.length = last.choices;
      this.#nextChoice = last.choice;
    }
  }
}
