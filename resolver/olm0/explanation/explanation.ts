import { packageNames } from '../../constraints/index.ts';
import type { ConsideredBundle, ConsideredGroup, Explanation } from '../../explain/index.ts';
import type { AppliedConstraint } from '../../solver/index.ts';
import { compareVersions, versionText } from '../../versions/index.ts';
import type { Entry } from '../entries/entry.ts';
import type { EntryIndex } from '../entries/entry-index.ts';
import type { NamespaceRequest, Subscription } from '../namespace-request.ts';
import type { BundleVariable } from '../problem/bundle-variables.ts';
import { suggestions } from './suggestions.ts';

/** Constraints that cannot hold together, and what they are about. */
export interface Conflicts {
  readonly message: string;
  readonly conflicts: readonly AppliedConstraint[];
  readonly bundles: ReadonlyMap<string, BundleVariable>;
  readonly index: EntryIndex;
}

export function explainError(request: NamespaceRequest, message: string): Explanation {
  const asked = askedFor(request);
  return { asked, message, chain: [sentence(message)], considered: [], suggestions: [] };
}

export function explainConflicts(request: NamespaceRequest, found: Conflicts): Explanation {
  const { message, conflicts, bundles } = found;
  const rank = ({ id }: AppliedConstraint) =>
    id.startsWith('subscription:') ? 0 : bundles.has(id) ? 1 : 2;
  const ordered = conflicts.toSorted((a, b) => rank(a) - rank(b));
  return {
    asked: askedFor(request),
    message,
    chain: chainOf(ordered, (applied) => sentence(fact(applied, request, found))),
    considered: considered({ ...found, conflicts: ordered }),
    suggestions: suggestions(request, found),
  };
}

const longestChain = 30;

function chainOf(
  conflicts: readonly AppliedConstraint[],
  show: (applied: AppliedConstraint) => string,
): readonly string[] {
  const shown = conflicts.slice(0, longestChain).map(show);
  const more = conflicts.length - shown.length;
  return more === 0 ? shown : [...shown, `And ${more} more constraints.`];
}

function askedFor({ namespace, subscriptions }: NamespaceRequest): string {
  const names = subscriptions.map(({ name }) => `"${name}"`).sort();
  const shown = [...names.slice(0, 10), ...(names.length > 10 ? ['…'] : [])];
  const label = names.length === 1 ? 'Subscription' : 'Subscriptions';
  const of = names.length === 0 ? 'no Subscription' : `${label} ${shown.join(', ')}`;
  return `namespace "${namespace}" with ${of}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function fact(
  applied: AppliedConstraint,
  { subscriptions }: NamespaceRequest,
  { bundles }: Conflicts,
): string {
  const { id, constraint } = applied;
  const { kind, text = id } = constraint;
  const subscription = subscriptions.find(({ name }) => id === `subscription:${name}`);
  if (subscription !== undefined) return kind === 'mandatory' ? asks(subscription) : text;
  const nameOf = (each: string) => bundles.get(each)?.entry.name ?? each;
  if (kind === 'conflict') return `bundle "${nameOf(id)}" replaces "${nameOf(constraint.id)}"`;
  return kind === 'dependency' ? `${text}${offers(constraint.ids.map(nameOf))}` : text;
}

function offers(bundles: readonly string[]): string {
  if (bundles.length === 0) return ', and no bundle of any catalog or of the namespace is one';
  const names = [...new Set(bundles)];
  const shown = names.slice(0, 3).map((name) => `"${name}"`);
  return `: ${shown.join(', ')}${names.length > 3 ? ` or ${names.length - 3} more` : ''}`;
}

function asks({ name, packageName, channel, catalog }: Subscription): string {
  const where = channel === '' ? '' : ` in channel "${channel}"`;
  return `Subscription "${name}" asks for package "${packageName}"${where} of catalog "${catalog.namespace}/${catalog.name}"`;
}

const mostBundles = 10;

interface Reasoned {
  readonly reason: string;
  readonly entry: Entry;
}

/** Candidates by what speaks against them, and bundles that only lack the required version. */
function considered({ conflicts, bundles, index }: Conflicts): readonly ConsideredGroup[] {
  const reasons = reasonsAgainst(conflicts);
  const reasoned = conflicts.flatMap(({ id, constraint }): readonly Reasoned[] => {
    if (constraint.kind !== 'dependency') return [];
    const requiring = bundles.get(id)?.entry;
    if (requiring !== undefined && constraint.ids.length === 0)
      return outOfRange(requiring, index, constraint.text);
    return constraint.ids.flatMap((candidate) => {
      const entry = bundles.get(candidate)?.entry;
      return entry === undefined ? [] : [{ reason: reasons.get(candidate) ?? otherReason, entry }];
    });
  });
  return limited(Map.groupBy(reasoned, ({ reason }) => reason));
}

const otherReason = 'conflicts with what else has to be installed';

/** The first constraint that speaks against each bundle. */
function reasonsAgainst(conflicts: readonly AppliedConstraint[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const { id, constraint } of conflicts) {
    const { kind, text = '' } = constraint;
    const about = [
      ...(kind === 'mandatory' || kind === 'at-most' ? [] : [id]),
      ...(kind === 'at-most' ? constraint.ids : []),
      ...(kind === 'conflict' ? [constraint.id] : []),
    ];
    for (const each of about) if (!reasons.has(each)) reasons.set(each, text);
  }
  return reasons;
}

function outOfRange(
  requiring: Entry,
  index: EntryIndex,
  text: string | undefined,
): readonly Reasoned[] {
  return index.requirementsOf(requiring).flatMap(({ property, requirement }) => {
    if (property.type !== 'olm.package.required' || text?.endsWith(requirement.text) !== true)
      return [];
    const [name = ''] = packageNames([{ type: 'olm.package', value: property.value }]);
    const reason = `not an operator ${requirement.text}`;
    return index.ofPackage(name).map((entry) => ({ reason, entry }));
  });
}

function limited(reasoned: ReadonlyMap<string, readonly Reasoned[]>): readonly ConsideredGroup[] {
  const groups: ConsideredGroup[] = [];
  let room = mostBundles;
  let others = 0;
  for (const [reason, list] of reasoned) {
    const entries = [...new Set(list.map(({ entry }) => entry))].toSorted(byVersion);
    const bundles = entries.slice(0, room).map(consideredBundle);
    room -= bundles.length;
    if (bundles.length === 0) others += entries.length;
    else groups.push({ reason, bundles, more: entries.length - bundles.length });
  }
  return others === 0
    ? groups
    : [...groups, { reason: 'for other reasons', bundles: [], more: others }];
}

function consideredBundle({ name, version, catalog }: Entry): ConsideredBundle {
  const text = version === undefined ? '' : versionText(version);
  return { name, version: text, catalog: catalog.name };
}

function byVersion(a: Entry, b: Entry): number {
  if (a.version === undefined || b.version === undefined)
    return Number(a.version === undefined) - Number(b.version === undefined);
  return compareVersions(b.version, a.version);
}
