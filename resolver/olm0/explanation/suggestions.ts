import type { AppliedConstraint } from '../../solver/index.ts';
import type { NamespaceRequest, Subscription } from '../namespace-request.ts';
import type { Conflicts } from './explanation.ts';

/** What would help, each one sentence. */
export function suggestions(
  request: NamespaceRequest,
  found: Pick<Conflicts, 'conflicts' | 'bundles' | 'index'>,
): readonly string[] {
  const texts = found.conflicts.flatMap((applied) => {
    const subscription = request.subscriptions.find(
      ({ name }) => applied.id === `subscription:${name}`,
    );
    return subscription === undefined
      ? forBundle(applied, request, found)
      : forSubscription(applied, subscription, found);
  });
  return [...new Set(texts)].slice(0, 10);
}

type Found = Pick<Conflicts, 'conflicts' | 'bundles' | 'index'>;

function forSubscription(
  { constraint }: AppliedConstraint,
  { name, packageName, channel, catalog, startingCSV }: Subscription,
  { index }: Found,
): readonly string[] {
  if (constraint.kind !== 'prohibited') return [];
  const isTheirs = (entry: { readonly catalog: Subscription['catalog'] }) =>
    entry.catalog.name === catalog.name && entry.catalog.namespace === catalog.namespace;
  const entries = index.ofPackage(packageName).filter(({ installed }) => installed === undefined);
  const own = entries.filter(isTheirs);
  if (own.length === 0) {
    const others = new Set(
      entries.map((entry) => `${entry.catalog.namespace}/${entry.catalog.name}`),
    );
    return others.size === 0
      ? [`Add a catalog that has package "${packageName}", or correct Subscription "${name}".`]
      : [
          `Name a catalog that has package "${packageName}" in Subscription "${name}": ${list(others)}.`,
        ];
  }
  const channels = new Set(own.map((entry) => entry.channel));
  if (channel !== '' && !channels.has(channel))
    return [
      `Name a channel of package "${packageName}" in Subscription "${name}": ${list(channels)}.`,
    ];
  return [`Remove startingCSV "${startingCSV}" from Subscription "${name}".`];
}

function forBundle(
  { id, constraint }: AppliedConstraint,
  { subscriptions }: NamespaceRequest,
  { bundles }: Found,
): readonly string[] {
  const { kind, text = '' } = constraint;
  const entry = bundles.get(id)?.entry;
  if (kind === 'dependency' && constraint.ids.length === 0)
    return [`Add a catalog that has ${text.slice(text.indexOf('an operator '))}.`];
  if (kind === 'mandatory' && entry !== undefined)
    return [`Delete ClusterServiceVersion "${entry.name}", which no Subscription owns.`];
  if (kind !== 'at-most') return [];
  const providers = constraint.ids.flatMap((each) => bundles.get(each)?.entry ?? []);
  const owners = subscriptions
    .filter(({ packageName }) => providers.some((each) => each.packageName === packageName))
    .map(({ name }) => name);
  return owners.length > 1 ? [`Delete all but one of the Subscriptions ${list(owners)}.`] : [];
}

function list(names: Iterable<string>): string {
  const quoted = [...names].sort().map((name) => `"${name}"`);
  return `${quoted.slice(0, 10).join(', ')}${quoted.length > 10 ? ', …' : ''}`;
}
