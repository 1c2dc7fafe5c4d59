import { goQuote } from '../../../api/go-quote.ts';
import {
  type AppliedConstraint,
  type Constraint,
  solve,
  type Variable,
} from '../../solver/index.ts';
import type { Candidate } from '../candidate.ts';
import { ResolutionFailure } from '../resolution-failure.ts';
import type { RequiredPackages } from './required-packages.ts';

/** What a choice is made from; each list with the preferred bundle first. */
export interface Choice {
  readonly packageName: string;
  readonly requested: readonly Candidate[];
  /** What upgrades allow, the installed bundle last; undefined if everything is allowed. */
  readonly possible: readonly Candidate[] | undefined;
}

/**
 * The first requested and allowed bundle whose required packages fit together, at most one bundle
 * of each package. As upstream, it is an error if the preferred bundle requires what no catalog has:
 * an older one would be a surprise. Unlike upstream, older bundles may.
 * @throws ResolutionFailure
 * @throws BudgetError
 */
export function chooseWithDependencies(choice: Choice, required: RequiredPackages): Candidate {
  const possible = choice.possible && new Set(choice.possible);
  const preferred = choice.requested.find((each) => possible?.has(each) !== false);
  // Nearly always: the solver would select the same bundle.
  if (preferred !== undefined && isCompleteAtOnce(preferred, required)) return preferred;
  if (preferred !== undefined) refuseMissingPackage(preferred, required);
  const problem = new Problem(choice, required);
  const solution = solve(problem.variables(), required.budget);
  if (solution.kind !== 'satisfied') {
    throw new ResolutionFailure('unsatisfiable', conflictText(problem, solution.conflicts));
  }
  // Each solution has one of them: the variable of the request is mandatory.
  return choice.requested.find((each) => solution.selected.has(problem.idOf(each))) as Candidate;
}

/** Whether the highest version of each required package meets all that requires the package. */
function isCompleteAtOnce(preferred: Candidate, required: RequiredPackages): boolean {
  const selected = new Map([[preferred.content.name, preferred]]);
  // Iterating a Map includes values that are added meanwhile.
  for (const each of selected.values()) {
    for (const { name, providers } of required.of(each)) {
      required.budget.take(providers.length);
      const other = selected.get(name) ?? providers[0];
      if (other === undefined || !providers.includes(other)) return false;
      selected.set(name, other);
    }
  }
  return true;
}

function refuseMissingPackage(preferred: Candidate, required: RequiredPackages): void {
  const missing = required.of(preferred).find(({ providers }) => providers.length === 0);
  if (missing === undefined) return;
  const { bundle, content } = preferred;
  const wanted = `package ${goQuote(missing.name)} in range ${goQuote(missing.range)}`;
  throw new ResolutionFailure(
    'no-candidates',
    `could not determine dependencies for bundle ${goQuote(bundle.name)} from package ${goQuote(content.name)} in catalog ${goQuote(content.catalog.name)}: no bundles found matching required ${wanted}`,
    [`Make a catalog available that has ${wanted}.`],
  );
}

/** Steps of making the id of a bundle. */
const idSteps = 20;

/** The request, and all bundles that it may need, as a problem of the solver. */
class Problem {
  readonly #choice: Choice;
  readonly #required: RequiredPackages;
  /** Keys of bundles that no two of them share, and their names in messages. */
  readonly #texts = new Map<string, string>();

  constructor(choice: Choice, required: RequiredPackages) {
    this.#choice = choice;
    this.#required = required;
  }

  idOf({ bundle, content }: Candidate): string {
    const parts = [content.catalog.name, content.name, bundle.name];
    const id = `bundle ${JSON.stringify(parts)}`;
    this.#texts.set(id, parts.join('-'));
    return id;
  }

  /** Not the text: of package "required" it could be that of a request for "uniqueness". */
  #uniquenessOf(packageName: string): string {
    const id = `uniqueness ${JSON.stringify(packageName)}`;
    this.#texts.set(id, `${packageName} package uniqueness`);
    return id;
  }

  textOf(id: string): string {
    return this.#texts.get(id) ?? id;
  }

  variables(): readonly Variable[] {
    const { packageName, requested, possible } = this.#choice;
    const bundles = this.#bundles();
    const byPackage = Map.groupBy(bundles, ({ content }) => content.name);
    return [
      this.#oneOf(`required package ${packageName}`, requested),
      ...(possible === undefined
        ? []
        : [this.#oneOf(`installed package ${packageName}`, possible)]),
      ...bundles.map((each) => ({ id: this.idOf(each), constraints: this.#dependencies(each) })),
      ...[...byPackage].map(([name, members]): Variable => {
        const ids = members.map((each) => this.idOf(each));
        const constraint = { kind: 'at-most', count: 1, ids } as const;
        return { id: this.#uniquenessOf(name), constraints: [constraint] };
      }),
    ];
  }

  #oneOf(id: string, bundles: readonly Candidate[]): Variable {
    const ids = bundles.map((each) => this.idOf(each));
    return { id, constraints: [{ kind: 'mandatory' }, { kind: 'dependency', ids }] };
  }

  #dependencies(candidate: Candidate): readonly Constraint[] {
    return this.#required.of(candidate).map(({ providers }) => {
      this.#required.budget.take(idSteps * providers.length);
      return { kind: 'dependency', ids: providers.map((each) => this.idOf(each)) };
    });
  }

  /** In the order in which they are found. */
  #bundles(): readonly Candidate[] {
    const { requested, possible = [] } = this.#choice;
    const found = new Map<string, Candidate>();
    const add = (each: Candidate) => {
      if (!found.has(this.idOf(each))) found.set(this.idOf(each), each);
    };
    for (const each of [...requested, ...possible]) add(each);
    // Iterating a Map includes values that are added meanwhile.
    for (const each of found.values()) {
      for (const { providers } of this.#required.of(each)) {
        this.#required.budget.take(idSteps * providers.length);
        for (const other of providers) add(other);
      }
    }
    return [...found.values()];
  }
}

/** The lines in the commonest order of upstream, whose solver has no rule for it. */
function conflictText(problem: Problem, conflicts: readonly AppliedConstraint[]): string {
  const lines = conflicts.map((each) => ({ rank: rankOf(each), text: lineOf(problem, each) }));
  lines.sort((a, b) => a.rank - b.rank || (a.text < b.text ? -1 : 1));
  return ['constraints not satisfiable:', ...lines.map(({ text }) => text)].join('\n');
}

function lineOf(problem: Problem, { id, constraint }: AppliedConstraint): string {
  const name = problem.textOf(id);
  const ids = 'ids' in constraint ? constraint.ids.map((each) => problem.textOf(each)) : [];
  if (constraint.kind === 'mandatory') return `${name} is mandatory`;
  if (constraint.kind === 'at-most') return `${name} permits at most 1 of ${ids.join(', ')}`;
  return ids.length === 0
    ? `${name} has a dependency without any candidates to satisfy it`
    : `${name} requires at least one of ${ids.join(', ')}`;
}

function rankOf({ id, constraint }: AppliedConstraint): number {
  if (constraint.kind === 'at-most') return 0;
  const isMandatory = constraint.kind === 'mandatory';
  if (id.startsWith('installed package ')) return isMandatory ? 2 : 1;
  if (id.startsWith('required package ')) return isMandatory ? 5 : 4;
  return 3;
}
