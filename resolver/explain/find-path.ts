import { goQuote } from '../../api/go-quote.ts';
import type { Budget } from '../budget.ts';
import {
  type Bundle,
  type ChannelEntry,
  type LastStep,
  type PackageContent,
  semverSuccessors,
  type UpgradeStart,
  upgradeEdge,
  upgradePaths,
  whyNoSemverSuccessor,
} from '../candidates/index.ts';
import { compareReleases, compareVersions, type Version, versionText } from '../versions/index.ts';
import type { PathRequest, UpgradePath, UpgradeStep } from './path-to.ts';

/** Steps of the loops over all bundles. */
const stepsOfPlace = 20;

/** Where a bundle is. */
interface Place {
  readonly bundle: Bundle;
  readonly content: PackageContent;
}

/** An entry of an existing bundle, and where it is. */
interface PlacedEntry extends ChannelEntry, Place {
  readonly channel: string;
}

type Steps = ReadonlyMap<string, LastStep<PlacedEntry>>;

/** @throws BudgetError */
export function findPath(request: PathRequest, wanted: Version, budget: Budget): UpgradePath {
  const { from, upgrades } = request;
  const isWanted = wantedBundle(request, wanted);
  if (isWanted(from)) return { kind: 'path', steps: [] };
  const contents = request.contents.toSorted((a, b) => (a.catalog.name < b.catalog.name ? -1 : 1));
  const places = placesOf(contents);
  budget.take(places.length * stepsOfPlace);
  budget.takeSort(places.length);
  const reach =
    upgrades === 'graph' || upgrades === 'replaces'
      ? graphReach(request, { contents, places, budget })
      : versionReach(request);
  const targets = places.filter(({ bundle }) => isWanted(bundle));
  for (const target of targets) {
    const steps = reach(target);
    if (steps !== undefined) return { kind: 'path', steps };
  }
  const isInCatalogs = targets.length > 0;
  const below = places.filter(
    (place) => orderOf(place, wanted) < 0 && place.bundle.name !== from.name,
  );
  return {
    kind: 'none',
    reason: reasonOf(request, wanted, isInCatalogs),
    nearest: nearestOf(below, reach),
  };
}

/** Without build metadata, a version stands for all its builds. */
function wantedBundle({ bundle }: PathRequest, wanted: Version): (each: UpgradeStart) => boolean {
  if (bundle !== undefined) return ({ name }) => name === bundle;
  const compare = wanted.build.length === 0 ? compareVersions : compareReleases;
  return ({ version }) => version !== undefined && compare(version, wanted) === 0;
}

/** The last step to the highest version that upgrades reach. */
function nearestOf(places: readonly Place[], reach: Reach): UpgradeStep | undefined {
  const highestFirst = places.toSorted((a, b) =>
    a.bundle.version === undefined ? 1 : orderOf(b, a.bundle.version),
  );
  for (const place of highestFirst) {
    const steps = reach(place);
    if (steps !== undefined) return steps.at(-1);
  }
  return undefined;
}

/** All bundles; of those of one name, that of the first catalog. */
function placesOf(contents: readonly PackageContent[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const content of contents) {
    for (const bundle of content.bundles) {
      if (!places.has(bundle.name)) places.set(bundle.name, { bundle, content });
    }
  }
  return [...places.values()];
}

/** Compares the version of a bundle; NaN without one. */
function orderOf({ bundle: { version } }: Place, wanted: Version): number {
  return version === undefined ? Number.NaN : compareVersions(version, wanted);
}

/** The steps to a place; undefined if upgrades do not lead there. */
type Reach = (place: Place) => readonly UpgradeStep[] | undefined;

function versionReach({ from, upgrades }: PathRequest): Reach {
  const isSuccessor = from.version && semverSuccessors(from.version);
  return (place) => {
    const { version } = place.bundle;
    const isReached = upgrades === 'any' || (version !== undefined && isSuccessor?.(version));
    return isReached === true ? [stepTo(place)] : undefined;
  };
}

interface Graph {
  readonly contents: readonly PackageContent[];
  readonly places: readonly Place[];
  readonly budget: Budget;
}

function graphReach({ from, upgrades }: PathRequest, { contents, places, budget }: Graph): Reach {
  const versions = new Map(places.map(({ bundle }) => [bundle.name, bundle.version]));
  const entries = contents
    .flatMap(placedEntries)
    .map((entry) => (upgrades === 'graph' ? entry : withReplacesAlone(entry)));
  const last: Steps = upgradePaths(from, { entries, versions }, budget);
  return ({ bundle }) => {
    const steps: UpgradeStep[] = [];
    for (let at = last.get(bundle.name); at !== undefined; at = last.get(at.from)) {
      const start =
        at.from === from.name ? from : { name: at.from, version: versions.get(at.from) };
      const edge = upgradeEdge(at.entry, start);
      steps.push({ ...stepTo(at.entry), channel: at.entry.channel, edge });
    }
    return steps.length === 0 ? undefined : steps.toReversed();
  };
}

function placedEntries(content: PackageContent): readonly PlacedEntry[] {
  const bundles = new Map(content.bundles.map((bundle) => [bundle.name, bundle]));
  return content.channels.flatMap(({ name: channel, entries }) =>
    entries.flatMap((entry) => {
      const bundle = bundles.get(entry.name);
      return bundle === undefined ? [] : [{ ...entry, bundle, content, channel }];
    }),
  );
}

function withReplacesAlone(entry: PlacedEntry): PlacedEntry {
  return { ...entry, skips: [], skipRange: '' };
}

function stepTo({ bundle, content }: Place): UpgradeStep {
  return {
    bundle: bundle.name,
    version: bundle.version === undefined ? '' : versionText(bundle.version),
    catalog: content.catalog.name,
    channel: undefined,
    edge: undefined,
  };
}

function reasonOf(
  { from, upgrades, packageName }: PathRequest,
  wanted: Version,
  isInCatalogs: boolean,
): string {
  const version = versionText(wanted);
  if (!isInCatalogs) {
    return `No available catalog has version ${version} of package ${goQuote(packageName)}.`;
  }
  const installed = from.version === undefined ? goQuote(from.name) : versionText(from.version);
  if (from.version !== undefined && compareVersions(wanted, from.version) < 0) {
    return `Version ${version} is a downgrade from ${installed}.`;
  }
  if (upgrades !== 'semver') {
    return `No chain of upgrades leads from ${installed} to version ${version}.`;
  }
  const isBreaking =
    from.version === undefined || whyNoSemverSuccessor(wanted, from.version) === 'breaking';
  return isBreaking
    ? `Version ${version} is a breaking change from ${installed}.`
    : `Version ${version} is a prerelease, and upgrades from ${installed} lead to releases only.`;
}
