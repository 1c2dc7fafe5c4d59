import type { Entry } from './entries/entry.ts';
import type { NamespaceRequest, Subscription } from './namespace-request.ts';
import type {
  BundleToInstall,
  GeneratedSubscription,
  ResolvedNamespace,
} from './namespace-resolution.ts';
import type { BundleVariable } from './problem/bundle-variables.ts';

/** What has to be done for the selected bundles of catalogs: nothing for those that are up to date. */
export function plan(
  selected: readonly BundleVariable[],
  { subscriptions, installed }: NamespaceRequest,
): ResolvedNamespace {
  const present = new Set(installed.map(({ name }) => name));
  const current = new Map(subscriptions.map(({ name, currentCSV }) => [name, currentCSV]));
  const bundles: BundleToInstall[] = [];
  const generated: GeneratedSubscription[] = [];
  const currentCSVs = new Map<string, string>();
  for (const variable of selected) {
    const { entry } = variable;
    const asking = subscriptions.filter((subscription) => asksFor(subscription, entry));
    const isCurrent = ({ name }: Subscription) => current.get(name) === entry.name;
    if (asking.length > 0 && asking.every(isCurrent) && present.has(entry.name)) continue;
    bundles.push(bundleToInstall(variable));
    if (asking.length === 0) generated.push(generatedSubscription(entry));
    for (const subscription of asking) {
      if (isCurrent(subscription)) continue;
      current.set(subscription.name, entry.name);
      currentCSVs.set(subscription.name, entry.name);
    }
  }
  const isManual = subscriptions.some(({ approval }) => approval === 'Manual');
  const approval = isManual ? 'Manual' : 'Automatic';
  return { kind: 'resolved', bundles, generated, currentCSVs, approval };
}

function asksFor({ packageName, channel, catalog }: Subscription, entry: Entry): boolean {
  if (packageName !== entry.packageName) return false;
  if (channel !== '' && channel !== entry.channel) return false;
  if (catalog.name === '' && catalog.namespace === '') return true;
  return catalog.name === entry.catalog.name && catalog.namespace === entry.catalog.namespace;
}

function bundleToInstall({ entry, replaces }: BundleVariable): BundleToInstall {
  const { name, catalog, packageName, channel, version, image, properties } = entry;
  return {
    name,
    catalog: { name: catalog.name, namespace: catalog.namespace },
    packageName,
    channel,
    version,
    image,
    replaces: replaces ?? entry.replaces,
    properties,
  };
}

function generatedSubscription({
  name,
  packageName,
  channel,
  catalog,
}: Entry): GeneratedSubscription {
  return {
    name: `${packageName}-${channel}-${catalog.name}-${catalog.namespace}`,
    packageName,
    channel,
    catalog: { name: catalog.name, namespace: catalog.namespace },
    startingCSV: name,
    approval: 'Automatic',
  };
}
