import { goQuote } from '../../../api/go-quote.ts';
import type { Bundle } from '../../candidates/index.ts';
import { versionProblem } from '../../versions/index.ts';
import { byRelease, type Candidate, first } from '../candidate.ts';
import type { PackageQuestion } from '../package-question.ts';
import { ResolutionFailure } from '../resolution-failure.ts';
import { type AllowedUpgrades, allowedUpgrades } from './allowed-upgrades.ts';

/**
 * The choice of ClusterExtension: the best bundle of each catalog, deprecated ones last; of these
 * the one of the catalog with the highest priority.
 * @throws ResolutionFailure
 */
export function chooseForExtension(question: PackageQuestion): Candidate {
  const upgrades = question.contents.length === 0 ? undefined : allowedUpgrades(question);
  const best = bestOfCatalogs(question, upgrades);
  const current = best.filter((each) => !each.isDeprecated);
  const chosen = current.length > 0 ? current : best;
  const [top, second] = chosen.toSorted((a, b) => priority(b) - priority(a));
  if (top === undefined) throw new ResolutionFailure(reasonOf(question), noneText(question, []));
  if (second !== undefined && priority(top) === priority(second)) {
    throw new ResolutionFailure('unsatisfiable', noneText(question, chosen), [
      `Give one of the catalogs ${catalogNames(chosen).map(goQuote).join(', ')} a higher priority, or select one with spec.source.catalog.selector.`,
    ]);
  }
  refuseInvalidVersion(top.bundle);
  return top;
}

function bestOfCatalogs(
  question: PackageQuestion,
  upgrades: AllowedUpgrades | undefined,
): readonly Candidate[] {
  const allowed = question.candidates.filter(
    (each) =>
      question.isRequested(each) &&
      (upgrades === undefined || upgrades.isInstalled(each) || upgrades.isSuccessor(each)),
  );
  const byCatalog = Map.groupBy(allowed, ({ content }) => content);
  return [...byCatalog.values()].flatMap((each) => first(each, byDeprecation) ?? []);
}

function byDeprecation(a: Candidate, b: Candidate): number {
  return Number(a.isDeprecated) - Number(b.isDeprecated) || byRelease(a, b);
}

function reasonOf(question: PackageQuestion): ResolutionFailure['reason'] {
  const isRequested = question.candidates.some((each) => question.isRequested(each));
  return isRequested ? 'unsatisfiable' : 'no-candidates';
}

/** Upstream names all catalogs here, those with a lower priority too. */
function noneText({ request }: PackageQuestion, ambiguous: readonly Candidate[]): string {
  const { packageName, version, channels, installed } = request;
  const name = goQuote(packageName);
  const parts = [
    installed?.by === 'name' &&
      `error upgrading from currently installed version ${goQuote(installed.version)}:`,
    ambiguous.length === 0
      ? `no bundles found for package ${name}`
      : `found bundles for package ${name}`,
    version !== undefined && `matching version ${goQuote(version)}`,
    channels.length > 0 && `in channels [${channels.join(' ')}]`,
    ambiguous.length > 0 &&
      `in multiple catalogs with the same priority [${catalogNames(ambiguous).join(' ')}]`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

function catalogNames(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(({ content }) => content.catalog.name).sort();
}

function priority({ content }: Candidate): number {
  return content.catalog.priority;
}

function refuseInvalidVersion({ name, version, properties }: Bundle): void {
  if (version !== undefined) return;
  const property = properties.find(({ type }) => type === 'olm.package');
  throw new ResolutionFailure(
    'no-candidates',
    `error getting resolved bundle version for bundle ${goQuote(name)}: ${
      property === undefined
        ? `no package property found in bundle ${goQuote(name)}`
        : problemOf(property.value)
    }`,
    ['Request a version range: bundles without a valid version are in none.'],
  );
}

function problemOf(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null;
  const text = isObject && 'version' in value ? value.version : '';
  const problem = typeof text === 'string' ? versionProblem(text) : undefined;
  return problem ?? 'error unmarshalling package property';
}
