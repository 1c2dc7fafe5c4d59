import { ChannelError } from '../../candidates/index.ts';
import { ConstraintError } from '../../constraints/index.ts';
import type { Constraint } from '../../solver/index.ts';
import { type Entry, ResolutionError } from '../entries/entry.ts';
import type { Candidates, EntryIndex } from '../entries/entry-index.ts';

/** A bundle as a variable of the problem. */
export interface BundleVariable {
  readonly id: string;
  readonly entry: Entry;
  readonly constraints: Constraint[];
  /** The installed bundle that it replaces. */
  replaces: string | undefined;
}

/** The variables of bundles, and of all bundles that may meet what they require. */
export class BundleVariables {
  readonly #index: EntryIndex;
  readonly #visited = new Map<Entry, BundleVariable>();
  readonly #expanded = new Set<Candidates>();

  constructor(index: EntryIndex) {
    this.#index = index;
  }

  /** All of them by id; of two entries with one id the one that was added last. */
  get byId(): ReadonlyMap<string, BundleVariable> {
    return new Map([...this.#visited.values()].map((variable) => [variable.id, variable]));
  }

  /**
   * Adds entries and what they may require, directly or not; returns the variables of the entries.
   * @throws ResolutionError with all errors of the bundles that it came to
   * @throws BudgetError
   */
  add(entries: readonly Entry[]): readonly BundleVariable[] {
    const stack = [...entries];
    const problems: string[] = [];
    for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
      if (this.#visited.has(entry)) continue;
      const variable = {
        id: entry.id,
        entry,
        constraints: ownConstraints(entry),
        replaces: undefined,
      };
      this.#visited.set(entry, variable);
      for (const candidate of this.#require(variable, problems)) stack.push(candidate);
    }
    if (problems.length > 0) throw new ResolutionError(problems);
    return entries.flatMap((entry) => this.#visited.get(entry) ?? []);
  }

  /** Adds the variable's dependencies to its constraints; returns candidates that are new. */
  #require({ entry, constraints }: BundleVariable, problems: string[]): readonly Entry[] {
    const requirements = orProblem(() => this.#index.requirementsOf(entry), problems) ?? [];
    return requirements.flatMap((required) => {
      const candidates = orProblem(() => this.#index.candidatesOf(required, entry), problems);
      if (candidates === undefined) return [];
      const text = `bundle ${entry.name} requires an operator ${required.requirement.text}`;
      constraints.push({ kind: 'dependency', ids: candidates.ids, text });
      return this.#expand(candidates);
    });
  }

  #expand(candidates: Candidates): readonly Entry[] {
    const { entries } = candidates;
    const isKnown = this.#expanded.has(candidates) && entries.length > shortList;
    this.#index.budget.take(isKnown ? 1 : entries.length);
    if (isKnown) return [];
    this.#expanded.add(candidates);
    return entries.filter((entry) => !this.#visited.has(entry));
  }
}

/** Lists of candidates up to this length are walked again, to come to errors in OLM's order. */
const shortList = 500;

function orProblem<T>(read: () => T, problems: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConstraintError || error instanceof ChannelError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

function ownConstraints({ id, name, installed, properties }: Entry): Constraint[] {
  const constraints: Constraint[] = [];
  if (installed?.hasSubscription === false) {
    const text = `clusterserviceversion ${name} exists and is not referenced by a subscription`;
    constraints.push({ kind: 'mandatory', text });
  }
  if (properties.some(({ type }) => type === 'olm.deprecated'))
    constraints.push({ kind: 'prohibited', text: `bundle ${id} is deprecated` });
  return constraints;
}
