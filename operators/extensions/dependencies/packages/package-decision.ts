import { goQuote } from '../../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { operatorResource } from '../../../../api/operators/v1alpha1/index.ts';
import { errorMessage } from '../../../../core/controller.ts';
import { shortList } from '../../../../core/short-list.ts';
import type { Property } from '../../../../resolver/candidates/index.ts';
import { ConstraintError } from '../../../../resolver/constraints/index.ts';
import type { PackageRequest } from '../../../../resolver/olm1/index.ts';
import type { BundleRecord } from '../../deployment/bundle-record.ts';
import { type Claim, claimantTitle, claimsOf } from '../made-operator.ts';
import type { Requirer } from '../requirers.ts';
import { isJudgedHere, type ProviderLibrary } from './provider-library.ts';
import { type Claimant, type Demand, versionForAll } from './version-for-all.ts';

/** A package for which an Operator is made, or was. */
export interface PackageNeed {
  readonly name: string;
  /** The Operator that the controller made. */
  readonly live: KubernetesObject | undefined;
  /** The bundle that it has installed. */
  readonly installed: BundleRecord | undefined;
  readonly request: Omit<PackageRequest, 'version'>;
  /** In the order in which they are served. */
  readonly demands: ReadonlyMap<Requirer, readonly Demand[]>;
  /** Whether an object may still need the package that it once required. */
  readonly mayNeed: (claimant: string) => boolean;
  /** Why no Operator of this name can be made. */
  readonly obstacle: string | undefined;
}

export interface PackageDecision {
  /** Undefined if no Operator is to be there. */
  readonly version: string | undefined;
  readonly claims: readonly Claim[];
  /** Why an object does not get what it requires, by its claimant name. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** Decides which version of a package is to be there, and for whom. Never throws for content. */
export async function decidePackage(
  need: PackageNeed,
  library: ProviderLibrary,
): Promise<PackageDecision> {
  const { live, demands, obstacle } = need;
  if (live === undefined && obstacle !== undefined) {
    return { version: undefined, claims: [], refusals: refusing(demands.keys(), obstacle) };
  }
  const retained = retainedClaims(need);
  try {
    const { version, refusals } = await versionOf(need, retained, library);
    return { version, claims: claimsFor(need, retained, refusals), refusals };
  } catch (error) {
    const refusals = refusing(demands.keys(), errorMessage(error));
    const version = versionIn(live);
    return { version, claims: live === undefined ? [] : claimsOf(live), refusals };
  }
}

/** Claims of objects that nothing is known of now, or that have not finished an upgrade. */
function retainedClaims({ live, demands, mayNeed }: PackageNeed): readonly Claim[] {
  const asking = new Set([...demands.keys()].map(({ name }) => name));
  const claims = live === undefined ? [] : claimsOf(live);
  return claims.filter(({ operator }) => !asking.has(operator) && mayNeed(operator));
}

async function versionOf(
  need: PackageNeed,
  retained: readonly Claim[],
  library: ProviderLibrary,
): Promise<Omit<PackageDecision, 'claims'>> {
  const { live, installed, request, demands } = need;
  const present = versionIn(live);
  const claimants = await Promise.all(
    [...demands].map(async ([requirer, list]) => {
      const judged = list.filter(({ property }) => isJudgedHere(property));
      return await claimantOf([requirer, judged], need, library);
    }),
  );
  const unknown = [
    ...retained.map(({ operator }) => claimantTitle(operator)),
    ...claimants.flatMap((each) => ('unknown' in each ? [claimantTitle(each.name)] : [])),
    ...library
      .absent()
      .flatMap((name) => (name === installed?.catalog ? [`catalog ${goQuote(name)}`] : [])),
  ];
  if (present !== undefined && unknown.length > 0) {
    const reason = `Operator ${goQuote(need.name)} stays at version ${present} until it is known what ${shortList(unknown, 3)} needs or has.`;
    const unmet: Claimant[] = [];
    for (const each of claimants) {
      const properties = each.demands.map(({ property }) => property);
      if (!(await library.meets(need.name, present, properties))) unmet.push(each);
    }
    return { version: present, refusals: refusing(unmet, reason) };
  }
  if (claimants.length === 0) return { version: present, refusals: new Map() };
  const { version, refusals } = await versionForAll(claimants, request, library);
  return { version: version ?? present, refusals };
}

/** Of the bundles before an upgrade, only what the present version meets is about this package. */
async function claimantOf(
  [{ name, object, isPlaced, earlier: bundles }, list]: readonly [Requirer, readonly Demand[]],
  need: PackageNeed,
  library: ProviderLibrary,
): Promise<Claimant & { readonly unknown?: true }> {
  // A ClusterExtension keeps what it has, and asks for no other version.
  const isOperator = object.kind === operatorResource.kind;
  const demands = isOperator ? list : await metNow(list, need, library);
  const earlier: Demand[] = [];
  if (versionIn(need.live) === undefined) return { name, demands, earlier, isPlaced };
  for (const { package: of, image } of bundles) {
    const bundle = await library.bundle(of, image);
    if (bundle === undefined) return { name, demands, earlier, isPlaced, unknown: true };
    const text = `what its version before the upgrade requires`;
    const required = bundle.properties.filter(isJudgedRequirement);
    const asked = required.map((property) => ({ property, text }));
    earlier.push(...(await metNow(asked, need, library)));
  }
  return { name, demands, earlier, isPlaced };
}

/** The demands that the present version meets. */
async function metNow(
  demands: readonly Demand[],
  { name, live }: PackageNeed,
  library: ProviderLibrary,
): Promise<readonly Demand[]> {
  const version = versionIn(live);
  if (version === undefined) return [];
  const met: Demand[] = [];
  for (const demand of demands) {
    if (await library.meets(name, version, [demand.property])) met.push(demand);
  }
  return met;
}

function isJudgedRequirement(property: Property): boolean {
  const { type } = property;
  try {
    return (type.endsWith('.required') || type === 'olm.constraint') && isJudgedHere(property);
  } catch (error) {
    if (error instanceof ConstraintError) return false;
    throw error;
  }
}

/** An Operator that is refused keeps the claim that it has: its bundle of before may need it. */
function claimsFor(
  { live, demands }: PackageNeed,
  retained: readonly Claim[],
  refusals: ReadonlyMap<string, string>,
): readonly Claim[] {
  const before = new Set(live === undefined ? [] : claimsOf(live).map(({ operator }) => operator));
  const asking = [...demands].flatMap(([{ name }, list]) => {
    if (refusals.has(name) && !before.has(name)) return [];
    const requires = shortList(
      list.map(({ text }) => text),
      3,
    )
      .slice(0, 500)
      .toWellFormed();
    return [{ operator: name, requires }];
  });
  return [...asking, ...retained].toSorted((a, b) => (a.operator < b.operator ? -1 : 1));
}

function versionIn(live: KubernetesObject | undefined): string | undefined {
  return (live?.['spec'] as { version?: string } | undefined)?.version;
}

function refusing(
  requirers: Iterable<{ readonly name: string }>,
  text: string,
): ReadonlyMap<string, string> {
  return new Map([...requirers].map(({ name }) => [name, text]));
}
