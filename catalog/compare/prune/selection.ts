import { goQuote } from '../../../api/go-quote.ts';
import { TerminalError } from '../../../core/errors.ts';
import { parseRange, parseVersion, rangeProblem, type VersionRange } from '../../versions/index.ts';

/** Versions of a channel that are chosen: all, the head alone, or those of a range. */
export type ChosenVersions =
  | 'all'
  | 'head'
  | { readonly range: VersionRange; readonly text: string };

export interface SelectedChannel {
  readonly name: string;
  readonly versions: ChosenVersions;
}

/** What is chosen of a package. */
export interface PackageSelection {
  /** All channels, the default one, or those that are named. */
  readonly channels:
    | { readonly which: 'all' | 'default'; readonly versions: ChosenVersions }
    | readonly SelectedChannel[];
  /**
   * The default channel of the result, which has to be among those that are kept. By default the
   * package's own if it is kept, else the channel with the highest head.
   */
  readonly defaultChannel?: string | undefined;
}

/** What is chosen of a catalog. Dependencies and upgrade paths of it are kept too. */
export interface CatalogSelection {
  /** By name; each has to be in the catalog. */
  readonly packages: ReadonlyMap<string, PackageSelection>;
  /** What is chosen of all other packages; nothing where absent. */
  readonly others?: PackageSelection | undefined;
  /** Leaves out what kept bundles depend on. */
  readonly skipDependencies?: boolean | undefined;
}

/**
 * The versions of a range such as `>=1.2.0 <2.0.0`, as blang/semver reads it.
 * @throws TerminalError
 */
export function versionsInRange(text: string): ChosenVersions {
  const problem = rangeProblem(text);
  if (problem === undefined) return { range: parseRange(text), text };
  throw new TerminalError(
    `versions ${goQuote(text)} are no range such as ">=1.2.0 <2.0.0": ${problem}`,
  );
}

/**
 * The versions between two, both of them included; all versions if neither is given.
 * @throws VersionError
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

/** A selection as people write it. */
export interface WrittenSelection {
  /** All packages where none is named. */
  readonly packages: readonly string[];
  /** Channels of all selected packages, or `PACKAGE=CHANNEL`; all channels where none is named. */
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
