import { goQuote } from '../../../api/go-quote.ts';
import { comparisonSteps } from '../../budget.ts';
import { whyNoSemverSuccessor } from '../../candidates/index.ts';
import { compareVersions, type Version, versionText } from '../../versions/index.ts';
import { byRelease, byVersion, type Candidate, first, label } from '../candidate.ts';
import { type AllowedUpgrades, allowedUpgrades } from '../choice/allowed-upgrades.ts';
import { requiredPackage } from '../dependencies.ts';
import type { PackageQuestion } from '../package-question.ts';
import { ResolutionFailure } from '../resolution-failure.ts';

/** A condition that a candidate does not meet. */
export type Criterion = 'channel' | 'version' | 'upgrade';

const judgingSteps = 20;

/** Says of each candidate why it is out. */
export class Judge {
  readonly #question: PackageQuestion;
  readonly upgrades: AllowedUpgrades | undefined;
  #best: Candidate | undefined;
  #places: ReadonlyMap<Candidate, number> | undefined;

  constructor(question: PackageQuestion) {
    this.#question = question;
    this.upgrades = knownUpgrades(question);
  }

  missing(candidate: Candidate): readonly Criterion[] {
    this.#question.budget.take(judgingSteps);
    const { upgrades } = this;
    const isUpgrade =
      upgrades === undefined || upgrades.isInstalled(candidate) || upgrades.isSuccessor(candidate);
    const isMet: Readonly<Record<Criterion, boolean>> = {
      channel: this.#question.isInChannels(candidate),
      version: this.#question.isInRange(candidate),
      upgrade: isUpgrade,
    };
    return criteria.filter((criterion) => !isMet[criterion]);
  }

  /** Why a candidate is not the chosen one, after "is": `not in channel "stable"`. */
  whyNot(candidate: Candidate, chosen: Candidate | undefined): string {
    const missing = this.missing(candidate);
    return missing.length === 0
      ? this.#passedOver(candidate, chosen)
      : missing.map((criterion) => this.#reason(criterion, candidate)).join(' and ');
  }

  /** What is against a candidate that meets all conditions. */
  #passedOver(candidate: Candidate, chosen: Candidate | undefined): string {
    const isOperator = this.#question.request.profile === 'operator';
    const best = chosen ?? (isOperator ? this.#preferred() : undefined);
    const { catalog } = candidate.content;
    if (best === undefined) return `in catalog ${goQuote(catalog.name)}`;
    if (!isOperator) return behindForExtension(candidate, best);
    const required = this.#isAhead(candidate, best) ? requirements(candidate) : '';
    return required === ''
      ? behindForOperator(candidate, best)
      : `not installable with the packages that it requires: ${required}`;
  }

  /** Whether an Operator gets a candidate rather than the best one, if it can be installed. */
  #isAhead(candidate: Candidate, best: Candidate): boolean {
    const order = byVersion(candidate, best);
    if (order !== 0) return order < 0;
    const { candidates } = this.#question;
    this.#places ??= new Map(candidates.map((each, index) => [each, index]));
    return (this.#places.get(candidate) ?? 0) <= (this.#places.get(best) ?? 0);
  }

  /** Of the bundles that meet all conditions, the one that an Operator would get. */
  #preferred(): Candidate | undefined {
    this.#best ??= first(
      this.#question.candidates.filter((each) => this.missing(each).length === 0),
      byVersion,
    );
    return this.#best;
  }

  #reason(criterion: Criterion, candidate: Candidate): string {
    const { channels, version = '' } = this.#question.request;
    if (criterion === 'channel') {
      const names = channels.map(goQuote).join(', ');
      return channels.length === 1 ? `not in channel ${names}` : `in none of the channels ${names}`;
    }
    if (criterion === 'upgrade') return this.#noUpgrade(candidate);
    if (candidate.bundle.version === undefined) return 'without a valid version';
    const isPrerelease = candidate.bundle.version.prerelease.length > 0;
    return `${isPrerelease ? 'a prerelease ' : ''}outside version range ${goQuote(version)}`;
  }

  #noUpgrade({ bundle }: Candidate): string {
    const from = this.upgrades?.from;
    if (from?.version === undefined || bundle.version === undefined) {
      return `not a direct upgrade from ${goQuote(from?.name ?? '')}`;
    }
    const installed = versionText(from.version);
    const order = compareVersions(bundle.version, from.version);
    if (order < 0) return `a downgrade from ${installed}`;
    if (this.#question.request.upgrades !== 'semver')
      return `not a direct upgrade from ${goQuote(from.name)}`;
    return order === 0
      ? 'the installed version again'
      : this.#noSuccessor(bundle.version, from.version);
  }

  #noSuccessor(version: Version, from: Version): string {
    this.#question.budget.take(2 * comparisonSteps);
    return whyNoSemverSuccessor(version, from) === 'breaking'
      ? `a breaking change from ${versionText(from)}`
      : `a prerelease, and upgrades from ${versionText(from)} lead to releases only`;
  }
}

function behindForOperator(candidate: Candidate, best: Candidate): string {
  const order = byVersion(candidate, best);
  if (candidate === best || order < 0)
    return `in catalog ${goQuote(candidate.content.catalog.name)}`;
  return order === 0 && byRelease(candidate, best) !== 0
    ? `the same version as ${label(best)}: build metadata does not count`
    : behind(candidate, best);
}

function behindForExtension(candidate: Candidate, best: Candidate): string {
  if (candidate.isDeprecated && !best.isDeprecated) return 'deprecated';
  const [own, other] = [candidate.content.catalog, best.content.catalog];
  return own.priority < other.priority
    ? `in catalog ${goQuote(own.name)}, and catalog ${goQuote(other.name)} has a higher priority`
    : behind(candidate, best);
}

function behind(candidate: Candidate, best: Candidate): string {
  return byRelease(candidate, best) > 0
    ? `lower than ${label(best)}`
    : `the same version as in catalog ${goQuote(best.content.catalog.name)}`;
}

/** `"d" in version range ">=1.0.0"`. */
function requirements({ bundle: { properties } }: Candidate): string {
  return properties
    .flatMap((property) => requiredPackage(property) ?? [])
    .map(({ name, versionRange }) => `${goQuote(name)} in version range ${goQuote(versionRange)}`)
    .join(', ');
}

const criteria: readonly Criterion[] = ['channel', 'version', 'upgrade'];

/** Undefined also if the installed bundle is not known: then nothing is out because of it. */
function knownUpgrades(question: PackageQuestion): AllowedUpgrades | undefined {
  try {
    return allowedUpgrades(question);
  } catch (error) {
    if (error instanceof ResolutionFailure) return undefined;
    throw error;
  }
}
