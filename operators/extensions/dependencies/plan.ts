import type { KubernetesObject } from '../../../api/meta.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import type { Dependency, PackageRequest } from '../../../resolver/olm1/index.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
import type { ResolvedChoice } from '../findings.ts';
import {
  claimantName,
  claimantTitle,
  claimsOf,
  ownersOf,
  type WantedOperator,
} from './made-operator.ts';
import { mostMade, ownersByPackage, pastMaximum } from './owners.ts';
import { decidePackage, type PackageDecision } from './packages/package-decision.ts';
import type { ProviderLibrary } from './packages/provider-library.ts';
import { madeTargetOf, type Target, targetOf } from './packages/targets.ts';
import type { Demand } from './packages/version-for-all.ts';
import type { Requirer, Requirers } from './requirers.ts';

/** What the cluster has. */
export interface World {
  /** All Operators, also those that are being deleted. */
  readonly operators: readonly KubernetesObject[];
  /** All ClusterExtensions. */
  readonly extensions: readonly KubernetesObject[];
  /** Those that the controller made, by package, which is also their name. */
  readonly made: ReadonlyMap<string, KubernetesObject>;
  /** Operators and ClusterExtensions of users that ask for a package. */
  readonly ofUsers: (packageName: string) => readonly KubernetesObject[];
  /** Why no Operator of that name can be made. */
  readonly obstacle: (packageName: string) => string | undefined;
  readonly installed: (name: string) => BundleRecord | undefined;
  readonly request: (packageName: string) => Omit<PackageRequest, 'version'>;
}

export interface JudgedDependency {
  readonly dependency: Dependency;
  readonly target: Target;
  /** Why the target is not to be had. */
  readonly refusal: string | undefined;
  /** Whether the Operator that is made for it has installed the version that meets it. */
  readonly isInstalled: boolean;
}

type Found = Pick<JudgedDependency, 'dependency' | 'target'>;

export interface Plan {
  readonly wanted: readonly WantedOperator[];
  /** Operators that the controller made and that nothing needs any more. */
  readonly unneeded: readonly KubernetesObject[];
  /** Of Operators alone. */
  readonly judged: ReadonlyMap<Requirer, readonly JudgedDependency[]>;
}

/** Requirements of one bundle that the controller installs something for. */
const mostDependencies = 100;

/** Decides which Operators are to be there for others. Equal for equal input, whatever its order. */
export async function planDependencies(
  world: World,
  requirers: Requirers,
  library: ProviderLibrary,
): Promise<Plan> {
  const targets = new Map<Requirer, readonly Found[]>();
  // Operators are reconciled meanwhile.
  for (const requirer of inOrder(world, requirers)) {
    targets.set(requirer, await targetsOf(requirer, world, library));
  }
  const decisions = new Map<string, PackageDecision>();
  const demands = demandsByPackage(targets);
  for (const name of [...new Set([...world.made.keys(), ...demands.keys()])].toSorted()) {
    const need = {
      name,
      live: world.made.get(name),
      installed: world.installed(name),
      request: world.request(name),
      demands: demands.get(name) ?? new Map<Requirer, readonly Demand[]>(),
      mayNeed: (operator: string) => mayNeed(operator, world, targets),
      obstacle: world.obstacle(name),
    };
    decisions.set(name, await decidePackage(need, library));
  }
  return planOf(world, decisions, targets);
}

type Targets = ReadonlyMap<Requirer, readonly Found[]>;

/** Operators, the oldest first, and then ClusterExtensions. */
function inOrder({ operators, extensions }: World, requirers: Requirers): readonly Requirer[] {
  return [...operators.toSorted(byAge), ...extensions.toSorted(byAge)].flatMap(
    (object) => requirers.get(object) ?? [],
  );
}

async function targetsOf(
  { name, object, choice }: Requirer,
  { made, ofUsers }: World,
  library: ProviderLibrary,
): Promise<readonly Found[]> {
  if (choice === undefined) return [];
  const found: Found[] = [];
  for (const dependency of choice.dependencies.slice(0, mostDependencies)) {
    const target = isOperator(object)
      ? await targetOf({ name, choice }, dependency, { made, ofUsers, library })
      : await madeTargetOf(name, dependency, { made, library });
    if (target !== undefined) found.push({ dependency, target });
  }
  return [...found, ...pastLimit(choice)];
}

function pastLimit({ dependencies }: ResolvedChoice): readonly Found[] {
  const [dependency] = dependencies.slice(mostDependencies);
  if (dependency === undefined) return [];
  const text = `it is one of ${dependencies.length} requirements, and the controller installs something for ${mostDependencies} at most`;
  return [{ dependency, target: { kind: 'problem', text, holds: dependency.metBy === undefined } }];
}

function demandsByPackage(
  targets: Targets,
): ReadonlyMap<string, ReadonlyMap<Requirer, readonly Demand[]>> {
  const packages = new Map<string, Map<Requirer, Demand[]>>();
  for (const [requirer, list] of targets) {
    for (const { target, dependency } of list) {
      if (target.kind !== 'package') continue;
      const claimants = packages.get(target.name) ?? new Map<Requirer, Demand[]>();
      claimants.set(requirer, [...(claimants.get(requirer) ?? []), dependency]);
      packages.set(target.name, claimants);
    }
  }
  return packages;
}

/** Whether an object that requires a package no longer may still have a bundle that does. */
function mayNeed(name: string, { operators, extensions }: World, targets: Targets): boolean {
  if (![...operators, ...extensions].some((each) => claimantName(each) === name)) return false;
  const [requirer, list = []] = [...targets].find(([each]) => each.name === name) ?? [];
  if (requirer?.choice === undefined || requirer.earlier.length > 0) return true;
  return list.some(({ target }) => target.kind === 'problem');
}

function planOf(
  world: World,
  decisions: ReadonlyMap<string, PackageDecision>,
  targets: Targets,
): Plan {
  const made = new Set(world.made.keys());
  const claims = new Map([...decisions].map(([name, each]) => [name, each.claims]));
  const ofUsers = world.operators.filter((each) => world.made.get(nameOf(each)) !== each);
  const owners = ownersByPackage(claims, [...ofUsers, ...world.extensions]);
  const past = pastMaximum(owners, made);
  const wanted = [...decisions].flatMap(([packageName, decision]): readonly WantedOperator[] => {
    const list = owners.get(packageName) ?? [];
    const { version } = decision;
    if (version === undefined || list.length === 0 || past.has(packageName)) return [];
    return [{ packageName, version, claims: decision.claims, owners: list }];
  });
  const kept = new Set(wanted.map(({ packageName }) => packageName));
  const unneeded = [...world.made].flatMap(([name, object]) =>
    !kept.has(name) && hasLivingOwner(object, world) ? [object] : [],
  );
  const refusalOf = (target: Target, requirer: Requirer): string | undefined => {
    if (target.kind !== 'package') return undefined;
    const full = past.get(target.name);
    if (full !== undefined) {
      return `${claimantTitle(full)} has ${mostMade} Operators made for it, which is the maximum: create an Operator for it.`;
    }
    return decisions.get(target.name)?.refusals.get(requirer.name);
  };
  const judge = (each: Found, requirer: Requirer): JudgedDependency => {
    const { target } = each;
    const isPackage = target.kind === 'package';
    const version = isPackage ? decisions.get(target.name)?.version : undefined;
    const isInstalled =
      version !== undefined && isPackage && world.installed(target.name)?.version === version;
    return { ...each, refusal: refusalOf(target, requirer), isInstalled };
  };
  const judged = [...targets]
    .filter(([{ object }]) => isOperator(object))
    .map(([requirer, list]) => [requirer, list.map((each) => judge(each, requirer))] as const);
  return { wanted, unneeded, judged: new Map(judged) };
}

/** Without one, it is the garbage collector's. */
function hasLivingOwner(object: KubernetesObject, { operators, extensions }: World): boolean {
  const uids = new Set([...operators, ...extensions].map(({ metadata }) => metadata.uid));
  return claimsOf(object).length > 0 && ownersOf(object).some(({ uid }) => uids.has(uid));
}

function isOperator({ kind }: KubernetesObject): boolean {
  return kind === operatorResource.kind;
}

function byAge(a: KubernetesObject, b: KubernetesObject): number {
  return compareText(createdAt(a), createdAt(b)) || compareText(nameOf(a), nameOf(b));
}

function createdAt({ metadata }: KubernetesObject): string {
  return metadata.creationTimestamp ?? '';
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
