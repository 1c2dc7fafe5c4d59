import { goQuote } from '../../../api/go-quote.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  parseRange,
  parseVersion,
  rangeProblem,
  type VersionRange,
} from '../../../resolver/versions/index.ts';

/** The chosen versions of a channel: all, only the head, or those of a range. */
export type ChosenVersions =
  | 'all'
  | 'head'
  | { readonly range: VersionRange; readonly text: string };

export interface SelectedChannel {
  readonly name: string;
  readonly versions: ChosenVersions;
}

/** The selected part of a package. */
export interface PackageSelection {
  /** All channels, the default one, or the named ones. */
  readonly channels:
    | { readonly which: 'all' | 'default'; readonly versions: ChosenVersions }
    | readonly SelectedChannel[];
  /**
   * Default channel of the result, which must be kept. Defaults to the package's own if it is kept,
   * else to the channel with the highest head.
   */
  readonly defaultChannel?: string | undefined;
}

/** The selected part of a catalog. Pruning also keeps its dependencies and upgrade paths. */
export interface CatalogSelection {
  /** By name; the catalog must have each of them. */
  readonly packages: ReadonlyMap<string, PackageSelection>;
  /** Selection for all other packages. Defaults to none of them. */
  readonly others?: PackageSelection | undefined;
  /** Leave out the dependencies of kept bundles. */
  readonly skipDependencies?: boolean | undefined;
}

/**
 * The versions of a range such as `>=1.2.0 <2.0.0`, as blang/semver reads it.
 * @throws TerminalError for an invalid range
 */
export function versionsInRange(text: string): ChosenVersions {
  const problem = rangeProblem(text);
  if (problem === undefined) return { range: parseRange(text), text };
  throw new TerminalError(
    `versions ${goQuote(text)} are no range such as ">=1.2.0 <2.0.0": ${problem}`,
  );
}

/**
 * The versions between two bounds, both included; all versions without bounds.
 * @throws VersionError for an invalid version
 */
export function versionsBetween(least?: string, most?: string): ChosenVersions {
  const from = least === undefined ? [] : [{ operator: '>=' as const, text: least }];
  const to = most === undefined ? [] : [{ operator: '<=' as const, text: most }];
  const bounds = [...from, ...to];
  if (bounds.length === 0) return 'all';
  const conditions = bounds.map(({ operator, text }) => ({
    operator,
    version: parseVersion(text),
  }));
  return {
    range: { alternatives: [conditions] },
    text: bounds.map(({ operator, text }) => `${operator}${text}`).join(' '),
  };
}

/** A selection as users write it. */
export interface WrittenSelection {
  /** Empty for all packages. */
  readonly packages: readonly string[];
  /** `CHANNEL` of all selected packages, or `PACKAGE=CHANNEL`; empty for all channels. */
  readonly channels: readonly string[];
  readonly versions: ChosenVersions;
  readonly skipDependencies: boolean;
}

/** @throws TerminalError for a channel of a package that is not selected. */
export function readSelection(written: WrittenSelection): CatalogSelection {
  const { packages, versions, skipDependencies } = written;
  const channels = written.channels.map((text) => channelOf(text, packages));
  const selection = (owner?: string): PackageSelection => {
    const names = channels.filter((each) => [undefined, owner].includes(each.owner));
    if (names.length === 0) return { channels: { which: 'all', versions } };
    return { channels: names.map(({ name }) => ({ name, versions })) };
  };
  return {
    packages: new Map(packages.map((name) => [name, selection(name)])),
    others: packages.length === 0 ? selection() : undefined,
    skipDependencies,
  };
}

function channelOf(
  text: string,
  packages: readonly string[],
): { readonly owner: string | undefined; readonly name: string } {
  const at = text.indexOf('=');
  if (at === -1) return { owner: undefined, name: text };
  const owner = text.slice(0, at);
  if (packages.includes(owner)) return { owner, name: text.slice(at + 1) };
  throw new TerminalError(
    `channel ${goQuote(text)} is of package ${goQuote(owner)}, which is not selected: add --package ${owner}`,
  );
}
