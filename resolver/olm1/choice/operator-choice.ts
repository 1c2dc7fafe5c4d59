import { goQuote } from '../../../api/go-quote.ts';
import { byVersion, type Candidate, first } from '../candidate.ts';
import type { PackageQuestion } from '../package-question.ts';
import { ResolutionFailure } from '../resolution-failure.ts';
import { type AllowedUpgrades, allowedUpgrades } from './allowed-upgrades.ts';
import { chooseWithDependencies } from './dependency-choice.ts';
import { RequiredPackages, requiresPackages } from './required-packages.ts';

/**
 * The choice of OLM 1.0's Operator: the highest version of all catalogs that is requested and
 * allowed; of equal ones the first by the catalog's name.
 * @throws ResolutionFailure
 */
export function chooseForOperator(question: PackageQuestion): Candidate {
  refuseDanglingEntries(question);
  const requested = question.candidates.filter((each) => question.isRequested(each));
  if (requested.length === 0) throw new ResolutionFailure('no-candidates', noneText(question));
  const upgrades = allowedUpgrades(question);
  const allowed =
    upgrades === undefined
      ? requested
      : requested.filter((each) => upgrades.isInstalled(each) || upgrades.isSuccessor(each));
  const chosen = first(allowed, byVersion);
  if (chosen === undefined) {
    throw new ResolutionFailure('unsatisfiable', conflictText(question, requested, upgrades));
  }
  // Without dependencies that is what the solver would find.
  return requiresPackages(chosen) ? withDependencies(question, requested, upgrades) : chosen;
}

function withDependencies(
  { candidates, library, budget, request: { packageName } }: PackageQuestion,
  requested: readonly Candidate[],
  upgrades: AllowedUpgrades | undefined,
): Candidate {
  budget.takeSort(2 * candidates.length);
  const possible = upgrades === undefined ? undefined : possibleWith(upgrades, candidates);
  const choice = { packageName, requested: requested.toSorted(byVersion), possible };
  const required = new RequiredPackages(library, new Map([[packageName, candidates]]), budget);
  return chooseWithDependencies(choice, required);
}

/** Successors, highest first, and the installed bundle last. */
function possibleWith(
  upgrades: AllowedUpgrades,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const successors = candidates.filter((each) => upgrades.isSuccessor(each)).toSorted(byVersion);
  return [...successors, ...candidates.filter((each) => upgrades.isInstalled(each))];
}

function refuseDanglingEntries({ contents, request: { packageName } }: PackageQuestion): void {
  for (const { bundles, channels, catalog } of contents) {
    const names = new Set(bundles.map(({ name }) => name));
    for (const channel of channels) {
      const dangling = channel.entries.find(({ name }) => !names.has(name));
      if (dangling === undefined) continue;
      throw new ResolutionFailure(
        'no-candidates',
        `bundle ${goQuote(dangling.name)} not found in catalog ${goQuote(catalog.name)} (package ${goQuote(packageName)}, channel ${goQuote(channel.name)})`,
        [
          `Ask the authors of catalog ${goQuote(catalog.name)} to add bundle ${goQuote(dangling.name)} or to remove its channel entry.`,
        ],
      );
    }
  }
}

function noneText({ request: { packageName, version, channels } }: PackageQuestion): string {
  const range = version === undefined ? '' : ` matching version ${goQuote(version)}`;
  const channel =
    channels.length === 0 ? '' : ` in channel ${channels.map((each) => goQuote(each)).join(', ')}`;
  return `no package ${goQuote(packageName)}${range} found${channel}`;
}

/** The lines in the commonest order of upstream, whose solver has no rule for it. */
function conflictText(
  { candidates, request: { packageName } }: PackageQuestion,
  requested: readonly Candidate[],
  upgrades: AllowedUpgrades | undefined,
): string {
  const wanted = ids(requested.toSorted(byVersion));
  const possible = ids(upgrades === undefined ? [] : possibleWith(upgrades, candidates));
  const all = [...new Set([...wanted, ...possible])];
  return [
    'constraints not satisfiable:',
    `${packageName} package uniqueness permits at most 1 of ${all.join(', ')}`,
    `installed package ${packageName} requires at least one of ${possible.join(', ')}`,
    `installed package ${packageName} is mandatory`,
    `required package ${packageName} requires at least one of ${wanted.join(', ')}`,
    `required package ${packageName} is mandatory`,
  ].join('\n');
}

function ids(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(
    ({ bundle, content }) => `${content.catalog.name}-${content.name}-${bundle.name}`,
  );
}
