import { goQuote } from '../../api/go-quote.ts';
import { Budget } from '../budget.ts';
import type { Bundle, CatalogReference, PackageContent, Property } from '../candidates/index.ts';
import {
  ConstraintError,
  constraintsOf,
  type Candidate as PossibleProvider,
  type Requirement,
} from '../constraints/index.ts';
import { versionText } from '../versions/index.ts';
import { byVersion, type Candidate, candidatesOf } from './candidate.ts';
import type { PackageContents, PackageRequest } from './package-request.ts';
import { resolvePackage } from './resolve-package.ts';

/** A package to install because bundles require it. */
export interface ProviderRequest {
  readonly request: Omit<PackageRequest, 'version'>;
  /** The properties that name what is required: the bundle has to meet all of them. */
  readonly demands: readonly Property[];
}

interface Place {
  readonly contents: PackageContents;
  readonly budget: Budget;
}

export type ProviderChoice =
  | {
      readonly kind: 'chosen';
      readonly bundle: Bundle;
      readonly catalog: CatalogReference;
      /** A range with this version alone. */
      readonly version: string;
    }
  | {
      readonly kind: 'none';
      /** Sentences for people. */
      readonly message: string;
    };

/** Maximum length of an Operator's `spec.version`. */
const longestVersion = 64;

/**
 * The highest version of a package that meets all demands and is an allowed upgrade: of the default
 * channels, and of other channels only if these have none. Equal for equal input, whatever its order.
 * @throws BudgetError
 */
export function chooseProvider(
  { request, demands }: ProviderRequest,
  contents: PackageContents,
  budget = new Budget(),
): ProviderChoice {
  const name = goQuote(request.packageName);
  const packages = contents.of(request.packageName);
  if (packages.length === 0) return none(`No catalog has package ${name}.`);
  const meeting = meetingBundles(packages, demands, budget);
  if (meeting.length === 0) {
    return none(`No version of package ${name} in ${catalogNames(packages)} meets it.`);
  }
  const place = { contents, budget };
  const usual = meeting.filter(isInDefaultChannel);
  const choice = chooseOf(usual.length > 0 ? usual : meeting, request, place);
  if (choice.kind === 'chosen' || usual.length === 0 || usual.length === meeting.length)
    return choice;
  const other = chooseOf(meeting, request, place);
  return other.kind === 'chosen' ? other : choice;
}

/**
 * Whether one bundle meets all demands; false for demands that cannot be read.
 * @throws BudgetError
 */
export function meetsDemands(
  provider: PossibleProvider,
  demands: readonly Property[],
  budget = new Budget(),
): boolean {
  return readDemands(demands, budget)?.every((each) => each.isMetBy(provider)) === true;
}

function readDemands(
  demands: readonly Property[],
  budget: Budget,
): readonly Requirement[] | undefined {
  try {
    return constraintsOf(demands, budget);
  } catch (error) {
    if (error instanceof ConstraintError) return undefined;
    throw error;
  }
}

function meetingBundles(
  packages: readonly PackageContent[],
  demands: readonly Property[],
  budget: Budget,
): readonly Candidate[] {
  const requirements = readDemands(demands, budget);
  if (requirements === undefined) return [];
  return candidatesOf(packages.toSorted((a, b) => (a.catalog.name < b.catalog.name ? -1 : 1)))
    .filter(
      ({ bundle: { version } }) =>
        version !== undefined && versionText(version).length <= longestVersion,
    )
    .filter(({ bundle, content }) =>
      requirements.every((each) => each.isMetBy({ packageName: content.name, ...bundle })),
    )
    .toSorted(byVersion);
}

function isInDefaultChannel({ bundle, content }: Candidate): boolean {
  const channel = content.channels.find(({ name }) => name === content.defaultChannel);
  return channel?.entries.some(({ name }) => name === bundle.name) === true;
}

/** Versions of one range: each candidate is compared with all of them. */
const versionsAtOnce = 50;

function chooseOf(
  meeting: readonly Candidate[],
  request: ProviderRequest['request'],
  place: Place,
): ProviderChoice {
  const versions = [...new Set(meeting.map(versionOf))];
  let first: ProviderChoice | undefined;
  for (let at = 0; at < versions.length; at += versionsAtOnce) {
    const some = versions.slice(at, at + versionsAtOnce);
    const choice = chooseAmong(meeting, { request, versions: some }, place);
    if (choice.kind === 'chosen') return choice;
    first ??= choice;
  }
  return first ?? none('');
}

/** Of equal versions in several catalogs, an Operator may get a bundle that does not meet them. */
function chooseAmong(
  meeting: readonly Candidate[],
  asked: { readonly request: ProviderRequest['request']; readonly versions: readonly string[] },
  { contents, budget }: Place,
): ProviderChoice {
  const surroundings = { present: [], unavailable: [], budget };
  let { versions } = asked;
  for (;;) {
    const request = { ...asked.request, version: versions.join(' || ') };
    const answer = resolvePackage(request, contents, surroundings);
    if (answer.kind === 'failed') return none(answer.explanation.chain.join(' ') || answer.message);
    const { bundle, catalog } = answer;
    const chosen = meeting.find((each) => each.bundle === bundle);
    const version = bundle.version === undefined ? '' : versionText(bundle.version);
    if (chosen !== undefined) return { kind: 'chosen', bundle, catalog, version };
    const left = versions.filter((each) => each !== version);
    if (left.length === 0 || left.length === versions.length) {
      return none(`Version ${version} is in several catalogs, and one of them does not meet it.`);
    }
    versions = left;
  }
}

function versionOf({ bundle: { version } }: Candidate): string {
  return version === undefined ? '' : versionText(version);
}

function catalogNames(packages: readonly PackageContent[]): string {
  const names = packages.map(({ catalog }) => goQuote(catalog.name)).toSorted();
  return `${names.length === 1 ? 'catalog' : 'catalogs'} ${names.join(', ')}`;
}

function none(message: string): ProviderChoice {
  return { kind: 'none', message };
}
