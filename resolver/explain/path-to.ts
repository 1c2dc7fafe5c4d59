import { goQuote } from '../../api/go-quote.ts';
import { Budget, BudgetError } from '../budget.ts';
import type {
  PackageContent,
  UpgradeEdge,
  UpgradePolicy,
  UpgradeStart,
} from '../candidates/index.ts';
import { parseTolerantVersion, VersionError, versionProblem } from '../versions/index.ts';
import { findPath } from './find-path.ts';

export interface PathRequest {
  readonly packageName: string;
  /** What the catalogs have of the package; in any order. */
  readonly contents: readonly PackageContent[];
  readonly from: UpgradeStart;
  /** A version, such as `2.4.0` or `v2.4`. */
  readonly to: string;
  /** Name of the one bundle of that version that is wanted (default: any). */
  readonly bundle?: string;
  readonly upgrades: UpgradePolicy;
}

export type UpgradePath =
  /** No steps if the version is installed already. */
  | { readonly kind: 'path'; readonly steps: readonly UpgradeStep[] }
  | {
      readonly kind: 'none';
      /** One sentence. */
      readonly reason: string;
      /** The highest version up to the wanted one that upgrades reach. */
      readonly nearest: UpgradeStep | undefined;
    };

export interface UpgradeStep {
  readonly bundle: string;
  /** Empty if the catalog names no valid version. */
  readonly version: string;
  readonly catalog: string;
  /** The channel whose edge is taken; undefined if versions alone decide. */
  readonly channel: string | undefined;
  /** How the bundle upgrades the one before it; undefined if versions alone decide. */
  readonly edge: UpgradeEdge | undefined;
}

/** The fewest upgrades that lead to a version, or why none do; also if the budget is too small. */
export function pathTo(request: PathRequest, budget = new Budget()): UpgradePath {
  const { to, from } = request;
  try {
    return findPath(request, parseTolerantVersion(to), budget);
  } catch (error) {
    if (error instanceof BudgetError) return none(tooLong(from, budget));
    if (!(error instanceof VersionError)) throw error;
    return none(`${goQuote(to)} is not a version: ${versionProblem(to) ?? error.message}.`);
  }
}

function tooLong({ name }: UpgradeStart, { limit }: Budget): string {
  return `Finding upgrades from ${goQuote(name)} takes more than ${limit} steps: ask the authors of its catalogs for fewer channel entries with a skipRange.`;
}

function none(reason: string): UpgradePath {
  return { kind: 'none', reason, nearest: undefined };
}
