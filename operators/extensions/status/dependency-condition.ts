import { goQuote } from '../../../api/go-quote.ts';
import { shortList } from '../../../core/short-list.ts';
import type { Dependency } from '../../../resolver/olm1/index.ts';
import { versionText } from '../../../resolver/versions/index.ts';
import type { ConditionUpdate, Findings, ResolvedChoice } from '../findings.ts';

const most = 5;

/** Not in upstream's APIs; only of bundles that require something. */
export const dependenciesSatisfied = 'DependenciesSatisfied';
/** Its reason while something is being installed for the bundle. */
export const dependencyNotInstalled = 'DependencyNotInstalled';

/** Whether what the selected bundle requires is installed; undefined if it requires nothing. */
export function dependencyCondition({ choice, admission }: Findings): ConditionUpdate | undefined {
  if (choice.kind !== 'resolved' || choice.dependencies.length === 0) return undefined;
  return admission?.condition ?? dependencyAdvice(choice, () => undefined);
}

/** The condition of a bundle that nothing is installed for; names what a user may install. */
export function dependencyAdvice(
  { bundle, dependencies }: ResolvedChoice,
  packagesFor: (dependency: Dependency) => readonly string[] | undefined,
): ConditionUpdate | undefined {
  if (dependencies.length === 0) return undefined;
  const missing = dependencies.filter(({ metBy }) => metBy === undefined);
  const awaited = dependencies.filter(({ metBy }) => metBy?.isInstalled === false);
  const type = dependenciesSatisfied;
  if (missing.length > 0) {
    const absent = missing.filter(({ unmetBy }) => unmetBy === undefined);
    // Of very many, no packages are looked up for what the message does not show.
    const texts = absent.map((each, index) =>
      index < most ? withPackages(each, packagesFor) : each.text,
    );
    const create = `${shortList(texts, most)}, which no Operator or ClusterExtension installs: create an Operator for it`;
    const change = missing.flatMap(otherVersion).slice(0, most);
    const sentences = [...(absent.length === 0 ? [] : [create]), ...change];
    const message = `bundle "${bundle.name}" requires ${sentences.join('; it requires ')}`;
    return { type, status: 'False', reason: 'DependencyMissing', message };
  }
  if (awaited.length > 0) {
    const texts = awaited.map(withOwner);
    const message = `bundle "${bundle.name}" requires ${shortList(texts, most)}, which is not installed yet`;
    return { type, status: 'False', reason: dependencyNotInstalled, message };
  }
  const texts = dependencies.map(withOwner);
  const message = `bundle "${bundle.name}" requires ${shortList(texts, most)}`;
  return { type, status: 'True', reason: 'Satisfied', message };
}

/** What another object has of the required package, and what a change of that object does. */
function otherVersion({ text, unmetBy }: Dependency): readonly string[] {
  if (unmetBy === undefined) return [];
  const { of, bundle, isInstalled } = unmetBy;
  const version = bundle.version === undefined ? bundle.name : versionText(bundle.version);
  const has = `${of} ${isInstalled ? 'has' : 'asks for'} version ${version}`;
  return [
    `${text}, but ${has}: give it a version that meets this, which replaces ${version} for all that use the package`,
  ];
}

function withPackages(
  dependency: Dependency,
  packagesFor: (dependency: Dependency) => readonly string[] | undefined,
): string {
  const { text, package: required } = dependency;
  const names = required === undefined ? (packagesFor(dependency) ?? []) : [];
  if (names.length === 0) return text;
  const list = shortList(names.map(goQuote), most);
  return `${text} (in ${names.length === 1 ? 'package' : 'packages'} ${list})`;
}

function withOwner({ text, metBy }: Dependency): string {
  return `${text} (of ${metBy?.of})`;
}
