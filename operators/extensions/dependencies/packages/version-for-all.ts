import { shortList } from '../../../../core/short-list.ts';
import type { Property } from '../../../../resolver/candidates/index.ts';
import type { PackageRequest, ProviderChoice } from '../../../../resolver/olm1/index.ts';
import { claimantTitle } from '../made-operator.ts';
import type { ProviderLibrary } from './provider-library.ts';

/** What one Operator or ClusterExtension demands of a package. */
export interface Claimant {
  readonly name: string;
  /** What its chosen bundle requires. */
  readonly demands: readonly Demand[];
  /** What the bundle that it still has requires; empty without one, and if it has the chosen one. */
  readonly earlier: readonly Demand[];
  /** Whether it has the chosen bundle already. */
  readonly isPlaced: boolean;
}

export interface Demand {
  readonly property: Property;
  /** `package "d" in version range ">=1.0.0"`. */
  readonly text: string;
}

export interface VersionForAll {
  /** Undefined if there is none: what is installed stays. */
  readonly version: string | undefined;
  /** Why an Operator does not get what it requires, by its name. */
  readonly refusals: ReadonlyMap<string, string>;
}

interface OwnedDemand extends Demand {
  readonly of: string;
}

/**
 * The version of a package that meets what all Operators require that have their bundles already, and
 * then, in their order, what others require: a new one never takes away what an old one needs.
 */
export async function versionForAll(
  claimants: readonly Claimant[],
  request: Omit<PackageRequest, 'version'>,
  library: Pick<ProviderLibrary, 'choose'>,
): Promise<VersionForAll> {
  const choose = async (demands: readonly OwnedDemand[]): Promise<ProviderChoice> =>
    await library.choose({ request, demands: distinct(demands) });
  const refusals = new Map<string, string>();
  let accepted = claimants.flatMap((each) =>
    owned(each, each.isPlaced ? each.demands : each.earlier),
  );
  let choice = accepted.length === 0 ? undefined : await choose(accepted);
  for (const claimant of claimants) {
    if (claimant.isPlaced) continue;
    const own = owned(claimant, claimant.demands);
    const ofOthers = accepted.filter(({ of }) => of !== claimant.name);
    const attempt = await firstChosen(
      [
        [...accepted, ...own],
        [...ofOthers, ...own],
      ],
      choose,
    );
    if (attempt.choice.kind === 'chosen') ({ demands: accepted, choice } = attempt);
    else refusals.set(claimant.name, await whyNot(own, ofOthers, choose));
  }
  return { version: choice?.kind === 'chosen' ? choice.version : undefined, refusals };
}

type Choose = (demands: readonly OwnedDemand[]) => Promise<ProviderChoice>;

interface Attempt {
  readonly demands: OwnedDemand[];
  readonly choice: ProviderChoice;
}

/** An upgrade may give up what the bundle of before requires. */
async function firstChosen(
  attempts: readonly [OwnedDemand[], OwnedDemand[]],
  choose: Choose,
): Promise<Attempt> {
  const [both, own] = attempts;
  const choice = await choose(both);
  if (choice.kind === 'chosen' || both.length === own.length) return { demands: both, choice };
  return { demands: own, choice: await choose(own) };
}

async function whyNot(
  own: readonly OwnedDemand[],
  ofOthers: readonly OwnedDemand[],
  choose: Choose,
): Promise<string> {
  const alone = await choose(own);
  if (alone.kind === 'none') return alone.message;
  const others = ofOthers.map(({ of, text }) => `${claimantTitle(of)} requires ${text}`);
  return `Version ${alone.version} would meet it, but not what others require: ${shortList(others, 3)}. Once they no longer require that, the controller installs it for all.`;
}

function owned({ name }: Claimant, demands: readonly Demand[]): OwnedDemand[] {
  return demands.map((each) => ({ ...each, of: name }));
}

/** In an order of their own, so that equal questions are asked once. */
function distinct(demands: readonly Demand[]): readonly Property[] {
  const byText = new Map(demands.map(({ property }) => [JSON.stringify(property), property]));
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, property]) => property);
}
