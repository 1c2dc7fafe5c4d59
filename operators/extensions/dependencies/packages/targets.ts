import { goQuote } from '../../../../api/go-quote.ts';
import type { KubernetesObject } from '../../../../api/meta.ts';
import { errorMessage } from '../../../../core/controller.ts';
import { shortList } from '../../../../core/short-list.ts';
import type { Dependency } from '../../../../resolver/olm1/index.ts';
import type { ResolvedChoice } from '../../findings.ts';
import { claimsOf } from '../made-operator.ts';
import { isJudgedHere, type ProviderLibrary, type ProvidersIn } from './provider-library.ts';

/** Where what a bundle requires is, or comes from. */
export type Target =
  /** An installed bundle of an object that the controller did not make. */
  | { readonly kind: 'met'; readonly of: string }
  /** An object of a user has the package, and does not meet the demand yet. */
  | { readonly kind: 'awaited'; readonly by: KubernetesObject }
  /** An Operator that the controller makes, or has made. */
  | { readonly kind: 'package'; readonly name: string }
  /** A user has to act, or a catalog has to come back. */
  | { readonly kind: 'problem'; readonly text: string; readonly holds: boolean };

export interface TargetSearch {
  /** Operators that the controller made, by package. */
  readonly made: ReadonlyMap<string, KubernetesObject>;
  /** Operators and ClusterExtensions of users that ask for a package. */
  readonly ofUsers: (packageName: string) => readonly KubernetesObject[];
  readonly library: ProviderLibrary;
}

/** Finds what one requirement of an Operator's chosen bundle leads to. Never throws for content. */
export async function targetOf(
  requirer: { readonly name: string; readonly choice: ResolvedChoice },
  dependency: Dependency,
  search: TargetSearch,
): Promise<Target> {
  const { metBy } = dependency;
  try {
    if (dependency.isInvalid) return { kind: 'problem', text: 'OLM ignores it', holds: false };
    const claimed = await claimedPackage(requirer.name, dependency, search);
    if (claimed !== undefined) return { kind: 'package', name: claimed };
    const made = madeFor(dependency, search);
    if (made !== undefined) return { kind: 'package', name: made };
    if (metBy?.isInstalled) return { kind: 'met', of: metBy.of };
    const found = await packageFor(requirer.choice, dependency, search);
    if ('problem' in found) return { kind: 'problem', text: found.problem, holds: true };
    const [owner] = search.ofUsers(found.name);
    if (owner !== undefined) return { kind: 'awaited', by: owner };
    return { kind: 'package', name: found.name };
  } catch (error) {
    return { kind: 'problem', text: errorMessage(error), holds: true };
  }
}

/**
 * Finds the Operator, made for others or kept before, that one requirement of a ClusterExtension keeps:
 * nothing is made for it. Undefined for none. Never throws for content.
 */
export async function madeTargetOf(
  claimant: string,
  dependency: Dependency,
  search: Pick<TargetSearch, 'made' | 'library'>,
): Promise<Target | undefined> {
  if (dependency.isInvalid) return undefined;
  try {
    const name =
      (await claimedPackage(claimant, dependency, search)) ?? madeFor(dependency, search);
    if (name !== undefined) return { kind: 'package', name };
  } catch (error) {
    return { kind: 'problem', text: errorMessage(error), holds: false };
  }
  if (dependency.metBy !== undefined || dependency.package !== undefined) return undefined;
  // A catalog that is missing now may say what meets it.
  return { kind: 'problem', text: 'nothing meets it', holds: false };
}

/** The made Operator that has or asks for what meets it. */
function madeFor({ metBy }: Dependency, { made }: Pick<TargetSearch, 'made'>): string | undefined {
  return metBy && [...made.keys()].find((name) => metBy.of === `Operator "${name}"`);
}

/** What was once chosen for an object stays, whatever other packages catalogs get. */
async function claimedPackage(
  requirer: string,
  { property, package: required }: Dependency,
  { made, library }: Pick<TargetSearch, 'made' | 'library'>,
): Promise<string | undefined> {
  for (const [name, object] of made) {
    if (!claimsOf(object).some(({ operator }) => operator === requirer)) continue;
    if (required?.name === name) return name;
    const { version = '' } = object['spec'] as { version?: string };
    if (required !== undefined || !isJudgedHere(property)) continue;
    if (await library.meets(name, version, [property])) return name;
  }
  return undefined;
}

/** Its expressions are those of strangers, and evaluated in another process. */
const undecided =
  'it has an expression, or names no package or API: create an Operator for a package that meets it';

type FoundPackage = { readonly name: string } | { readonly problem: string };

async function packageFor(
  choice: ResolvedChoice,
  { property, package: required }: Dependency,
  { library }: TargetSearch,
): Promise<FoundPackage> {
  // Whether it has a fitting version depends on all that require the package.
  if (required !== undefined) return { name: required.name };
  if (!isJudgedHere(property)) return { problem: undecided };
  const providers = await library.packagesFor(property);
  if (providers === undefined) {
    return {
      problem: 'it names no package or API: create an Operator for a package that meets it',
    };
  }
  const own = providers.filter(({ catalog }) => catalog === choice.catalog.name);
  if (own.length > 0) return onlyOne(own);
  const absent = library.absent().map(goQuote);
  if (absent.length > 0) {
    return {
      problem: `catalog ${shortList(absent, 3)} has no content, and may have a package for it`,
    };
  }
  if (providers.length === 0) return { problem: 'no package in the catalogs meets it' };
  const highest = Math.max(...providers.map(({ priority }) => priority));
  return onlyOne(providers.filter(({ priority }) => priority === highest));
}

/** Several packages are a choice that the controller leaves to users. */
function onlyOne(providers: readonly ProvidersIn[]): FoundPackage {
  const names = [...new Set(providers.flatMap(({ packages }) => packages))].toSorted();
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return { name };
  const list = shortList(names.map(goQuote), 5);
  return { problem: `packages ${list} meet it: create an Operator for one of them` };
}
