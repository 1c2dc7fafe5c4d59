import { goQuote } from '../../../api/go-quote.ts';
import { comparisonSteps } from '../../budget.ts';
import {
  contentSteps,
  graphSuccessors,
  type PackageContent,
  semverSuccessors,
  type UpgradePolicy,
  type UpgradeStart,
} from '../../candidates/index.ts';
import { compareReleases, parseVersion, VersionError } from '../../versions/index.ts';
import { byVersion, type Candidate, first } from '../candidate.ts';
import type { PackageQuestion } from '../package-question.ts';
import type { InstalledBundle } from '../package-request.ts';
import { ResolutionFailure } from '../resolution-failure.ts';

/** What the installed bundle may be upgraded to. */
export interface AllowedUpgrades {
  readonly from: UpgradeStart;
  /** Whether a candidate is the installed bundle. */
  readonly isInstalled: (candidate: Candidate) => boolean;
  readonly isSuccessor: (candidate: Candidate) => boolean;
}

/**
 * Undefined where everything is allowed.
 * @throws ResolutionFailure if the installed bundle is not known
 */
export function allowedUpgrades(question: PackageQuestion): AllowedUpgrades | undefined {
  const { upgrades, installed } = question.request;
  if (upgrades === 'any' || installed === undefined) return undefined;
  const { from, isInstalled } = installedBundle(question, installed);
  return { from, isInstalled, isSuccessor: policies[upgrades](question, from) };
}

type Installed = Pick<AllowedUpgrades, 'from' | 'isInstalled'>;

function installedBundle(question: PackageQuestion, installed: InstalledBundle): Installed {
  if (installed.by === 'name') return namedBundle(installed);
  const { image, deployment } = installed;
  const found = first(
    question.candidates.filter(({ bundle }) => bundle.image === image),
    byVersion,
  );
  if (found === undefined) {
    const { packageName } = question.request;
    throw new ResolutionFailure(
      'no-candidates',
      `bundle with image ${goQuote(image)} for package ${goQuote(packageName)} not found in available catalogs but is currently installed via BundleDeployment ${goQuote(deployment)}`,
      [
        `Make a catalog available that has image ${goQuote(image)}.`,
        'Set upgradeConstraintPolicy to Ignore to upgrade from a bundle that no catalog has.',
      ],
    );
  }
  return { from: found.bundle, isInstalled: (candidate) => candidate === found };
}

function namedBundle({ name, version }: { readonly name: string; readonly version: string }) {
  try {
    const installed = parseVersion(version);
    const isInstalled = ({ bundle }: Candidate) =>
      bundle.version !== undefined && compareReleases(bundle.version, installed) === 0;
    return { from: { name, version: installed }, isInstalled };
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw new ResolutionFailure(
      'no-candidates',
      `error walking catalogs: error finding upgrade edges: failed to get version and release of installed bundle: ${error.message}`,
    );
  }
}

type Policy = (question: PackageQuestion, from: UpgradeStart) => (candidate: Candidate) => boolean;

const policies: Readonly<Record<Exclude<UpgradePolicy, 'any'>, Policy>> = {
  semver: ({ budget }, { version }) => {
    const isSuccessor = version && semverSuccessors(version);
    return ({ bundle }) => {
      budget.take(2 * comparisonSteps);
      return (bundle.version && isSuccessor?.(bundle.version)) ?? false;
    };
  },
  replaces: (question, from) =>
    byEntry(question, ({ channels }) => graphSuccessors(channels, from, 'replaces')),
  // As operator-controller: if channels are requested, only their edges count.
  graph: (question, from) =>
    byEntry(question, (content) => graphSuccessors(question.channelsOf(content), from)),
};

function byEntry(
  { contents, budget }: PackageQuestion,
  successors: (content: PackageContent) => ReadonlyMap<string, unknown>,
): (candidate: Candidate) => boolean {
  for (const content of contents) budget.take(contentSteps(content));
  const names = new Map(contents.map((content) => [content, successors(content)]));
  return ({ bundle, content }) => names.get(content)?.has(bundle.name) ?? false;
}
