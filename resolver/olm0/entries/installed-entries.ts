import type { Budget } from '../../budget.ts';
import type { Property } from '../../candidates/index.ts';
import { type GroupVersionKind, packageNames, providedApis } from '../../constraints/index.ts';
import { compareVersions, versionText, zeroVersion } from '../../versions/index.ts';
import type { ApiDescriptions, InstalledBundle, NamespaceRequest } from '../namespace-request.ts';
import { compareText, type Entry, entryId, ResolutionError } from './entry.ts';

/** The name of the catalog that installed bundles are in. */
export const installedCatalog = '@existing';

/**
 * The installed bundles by name. With `failForward` without those that are being replaced in a chain
 * that ends in a failed one.
 * @throws ResolutionError
 * @throws BudgetError
 */
export function installedEntries(request: NamespaceRequest, budget: Budget): readonly Entry[] {
  const { installed, subscriptions } = request;
  budget.takeSort(installed.length);
  budget.take(installed.length * (installed.length + subscriptions.length));
  const sorted = installed.toSorted((a, b) => compareText(a.name, b.name));
  return sorted.flatMap((bundle) => {
    const isReplaced = request.failForward === true && endsInFailure(bundle, sorted, request);
    // OLM reads the APIs of those alone that it keeps.
    return isReplaced && bundle.phase === 'Replacing' ? [] : [entryOf(bundle, request)];
  });
}

/**
 * Whether the last bundle in the chain of replacements of an installed one has failed.
 * @throws ResolutionError if one before the last is not being replaced, or the chain is a cycle.
 */
function endsInFailure(
  bundle: InstalledBundle,
  installed: readonly InstalledBundle[],
  { namespace }: Pick<NamespaceRequest, 'namespace'>,
): boolean {
  const replacements = new Map(
    installed.filter(({ replaces }) => replaces !== '').map((each) => [each.replaces, each]),
  );
  const seen = new Set<InstalledBundle>();
  let last = bundle;
  for (;;) {
    const next = replacements.get(last.name);
    if (next === undefined) return last.phase === 'Failed';
    if (last.phase !== 'Replacing')
      throw new ResolutionError([
        `csv ${namespace}/${last.name} in phase ${last.phase} instead of Replacing`,
      ]);
    if (seen.has(last))
      throw new ResolutionError([`csv ${namespace}/${last.name} has already been seen`]);
    seen.add(last);
    last = next;
  }
}

function entryOf(bundle: InstalledBundle, request: NamespaceRequest): Entry {
  const { namespace, subscriptions } = request;
  const catalog = { name: installedCatalog, namespace, priority: 0 };
  const apis = apiProperties(bundle);
  const owners = subscriptions.filter(({ installedCSV }) => installedCSV === bundle.name);
  const packages = new Set(owners.map((owner) => owner.packageName).filter((name) => name !== ''));
  const properties = bundle.properties ?? [...apis, ...inferredPackage(bundle, packages)];
  const names = packageNames(properties);
  return {
    id: entryId(catalog, '', bundle.name),
    name: bundle.name,
    catalog,
    packageName: names.at(-1) ?? '',
    channel: '',
    isDefaultChannel: false,
    version: bundle.version,
    image: '',
    replaces: '',
    skips: [],
    skipRange: undefined,
    installed: { hasSubscription: owners.length > 0 },
    apis: providedApis(properties),
    packageNames: names,
    properties,
  };
}

/** The package of a bundle that does not say it: its Subscriptions do if they agree. */
function inferredPackage(
  { version }: InstalledBundle,
  packages: ReadonlySet<string>,
): readonly Property[] {
  const [packageName] = packages;
  if (packages.size !== 1 || packageName === undefined) return [];
  const isZero = compareVersions(version, zeroVersion) === 0;
  const value = { packageName, version: isZero ? '' : versionText(version) };
  return [{ type: 'olm.package', value }];
}

function apiProperties({ owned, required }: InstalledBundle): readonly Property[] {
  return [
    ...propertiesOf('olm.gvk', apisOf(owned)),
    ...propertiesOf('olm.gvk.required', apisOf(required)),
  ];
}

interface Api extends GroupVersionKind {
  readonly plural: string;
}

function apisOf({ customResourceDefinitions, apiServices }: ApiDescriptions): readonly Api[] {
  const defined = customResourceDefinitions.map(({ name, version, kind }) => {
    const dot = name.indexOf('.');
    if (dot === -1) throw new ResolutionError([`error parsing crd name: ${name}`]);
    return { plural: name.slice(0, dot), group: name.slice(dot + 1), version, kind };
  });
  const served = apiServices.map(({ group, version, kind }) => {
    return { plural: '', group, version, kind };
  });
  const apis = [...defined, ...served];
  return [...new Map(apis.map((api) => [JSON.stringify(Object.values(api)), api])).values()];
}

function propertiesOf(type: string, apis: readonly Api[]): readonly Property[] {
  const order = ({ group, version, kind }: Api) =>
    JSON.stringify(type === 'olm.gvk' ? { group, kind, version } : { group, version, kind });
  return apis
    .toSorted((a, b) => compareText(order(a), order(b)))
    .map(({ group, version, kind }) => ({ type, value: { group, version, kind } }));
}
