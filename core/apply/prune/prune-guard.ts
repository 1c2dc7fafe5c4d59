import { createHash } from 'node:crypto';
import { stringAt } from '../../../api/json-fields.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { PrunePolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import type { HeldPrune } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { Blocked } from '../../contracts/applier.ts';
import type { Discovery, KubeClient } from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import { type InventoryEntry, identity } from '../inventory/entry.ts';
import { isData } from '../inventory/user-data.ts';
import { definedKind, mayHaveCustomResources } from '../kinds/definitions.ts';
import { objectPath } from '../objects/object-id.ts';
import { isDefinition } from '../objects/order.ts';
import type { OwnerState } from '../state/owner-state.ts';
import { type AskedBefore, askedIn } from './asked-deletions.ts';

/** Objects that core may prune now, and objects that wait for confirmation. */
interface GuardedPrune {
  readonly go: readonly InventoryEntry[];
  readonly held: readonly InventoryEntry[];
  readonly status?: HeldPrune;
  /** For the condition: which objects wait, why, and how to confirm. */
  readonly message?: string;
}

const maxStatusObjects = 50;
const namedObjects = 5;

interface PruneGuard extends AskedBefore {
  readonly owner: BundleDeployment;
  /** Cluster-wide defaults for fields that the owner's spec.prune omits. */
  readonly defaults?: PrunePolicy | undefined;
  /** Number of objects that the owner will have. */
  readonly wanted: number;
  readonly state: Pick<OwnerState, 'confirmedPrunes'>;
  /** As in `ApplyRequest`. */
  readonly changedFacts?: string | undefined;
  readonly client: Pick<KubeClient, 'list'>;
  readonly discovery: Pick<Discovery, 'resourceForGroupKind'>;
  readonly signal: AbortSignal;
}

/** Applies spec.prune to objects of the owner that it no longer wants. */
export async function guardPrune(
  entries: readonly InventoryEntry[],
  guard: PruneGuard,
): Promise<GuardedPrune> {
  const { owner, state } = guard;
  const name = owner.metadata.name ?? '';
  // What the bundle has again meanwhile, and drops later, must be confirmed anew.
  const pending = new Set(entries.map(identity));
  state.confirmedPrunes = state.confirmedPrunes.intersection(pending);
  const verdict = await verdictOn(entries, guard);
  const open = verdict?.held.filter((entry) => !state.confirmedPrunes.has(identity(entry))) ?? [];
  if (verdict === undefined || open.length === 0) return { go: entries, held: [] };
  const digest = pruneDigest(open);
  const asked = stringAt(owner.metadata.annotations, annotation.confirmPrune);
  if (asked === digest) {
    // Some deletions may fail now, and the rest would have another digest: remember the
    // confirmation.
    state.confirmedPrunes = new Set(open.map(identity));
    return { go: entries, held: [] };
  }
  const held = new Set(open);
  const status = heldStatus(open, digest, verdict.reason);
  return {
    go: entries.filter((entry) => !held.has(entry)),
    held: open,
    status,
    message: heldMessage(open, status, { name, asked }),
  };
}

/** Digest of exactly these deletions: the same objects with the same UIDs. */
export function pruneDigest(entries: readonly InventoryEntry[]): string {
  const lines = entries.map(identity).toSorted();
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}

interface Verdict {
  readonly held: readonly InventoryEntry[];
  readonly reason: string;
}

/** What was asked for is still subject to the other guards beside deletions that were not. */
async function verdictOn(
  entries: readonly InventoryEntry[],
  guard: PruneGuard,
): Promise<Verdict | undefined> {
  const fresh = unasked(entries, guard);
  const rest = entries.filter((entry) => fresh?.held.includes(entry) !== true);
  if (rest.length === 0) return fresh;
  const other = tooMany(rest, guard) ?? (await holdingData(rest, guard));
  if (fresh === undefined || other === undefined) return fresh ?? other;
  return { held: [...fresh.held, ...other.held], reason: `${fresh.reason}; ${other.reason}` };
}

/** Holds every deletion that no change of template, config or inputs explains. */
function unasked(entries: readonly InventoryEntry[], guard: PruneGuard): Verdict | undefined {
  const isAsked = askedIn(guard);
  const held = entries.filter((entry) => !isAsked(entry));
  if (held.length === 0) return undefined;
  const { changedFacts = 'cause unknown, for example another version of core or of the class' } =
    guard;
  const same = 'the class no longer renders them from the same template, config and inputs';
  return { held, reason: `${same}: ${changedFacts}` };
}

/** The percentage counts wanted and unwanted objects, so that it stays the same until the prune. */
function tooMany(
  entries: readonly InventoryEntry[],
  { owner, defaults, wanted }: PruneGuard,
): Verdict | undefined {
  const asked = owner.spec.prune?.maxPercent;
  const maxPercent = asked ?? defaults?.maxPercent;
  const total = entries.length + wanted;
  const percent = (entries.length * 100) / total;
  if (maxPercent === undefined || percent <= maxPercent) return undefined;
  const share = `${entries.length} of ${total} objects`;
  const limit =
    asked === undefined ? `${maxPercent} % that this cluster has as default` : `${maxPercent} %`;
  return {
    held: entries,
    reason: `${share} would be deleted, more than the ${limit} of spec.prune.maxPercent`,
  };
}

async function holdingData(
  entries: readonly InventoryEntry[],
  { owner, defaults, client, discovery, signal }: PruneGuard,
): Promise<Verdict | undefined> {
  const confirmData = owner.spec.prune?.confirmData ?? defaults?.confirmData;
  if (confirmData !== true) return undefined;
  const query = { client, discovery, except: new Set(entries.map(({ id }) => id)), signal };
  const held: InventoryEntry[] = [];
  for (const entry of entries) {
    const isEmpty =
      isDefinition(entry.resource) && !(await mayHaveCustomResources(definedKind(entry), query));
    if (isData(entry) && !isEmpty) held.push(entry);
  }
  if (held.length === 0) return undefined;
  return { held, reason: 'they contain data, which spec.prune.confirmData protects' };
}

function heldStatus(entries: readonly InventoryEntry[], digest: string, reason: string): HeldPrune {
  const objects = entries.slice(0, maxStatusObjects).map(({ resource, key }) => ({
    group: resource.group,
    kind: resource.kind,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    name: key.name,
  }));
  return { digest, reason, count: entries.length, objects };
}

function heldMessage(
  entries: readonly InventoryEntry[],
  { digest, reason }: HeldPrune,
  { name, asked }: { readonly name: string; readonly asked: string | undefined },
): string {
  const objects = entries.map(({ resource, key }) => objectPath(resource.kind, key));
  const other =
    asked === undefined
      ? ''
      : `. Annotation ${annotation.confirmPrune} has digest ${asked.slice(0, 64)}, which is of other deletions`;
  return (
    `not deleted: ${shortList(objects, namedObjects)}: ${reason}${other}. ` +
    `To delete them: kubectl annotate --overwrite bundledeployment ${name} ` +
    `${annotation.confirmPrune}=${digest}`
  );
}

/** Objects to delete now, and objects to delete when everything that was applied is healthy. */
interface TimedPrune {
  readonly now: readonly InventoryEntry[];
  readonly later: readonly InventoryEntry[];
  readonly blocked?: Blocked;
}

interface AppliedSet {
  readonly owner: Pick<BundleDeployment, 'spec'>;
  readonly set: { readonly ids: ReadonlySet<string> };
  /** The line of an object that is not healthy. Its next change of health wakes the owner. */
  readonly problemOf: (id: string) => string | undefined;
}

const namedWaiting = 5;
const longestProblem = 300;

/**
 * Applies spec.prune.when. Data always waits until its replacement is healthy; every object waits
 * when a rollback may need it.
 */
export function timePrune(
  entries: readonly InventoryEntry[],
  { owner: { spec }, set, problemOf }: AppliedSet,
): TimedPrune {
  const when = spec.prune?.when ?? (spec.rollback === undefined ? 'Applied' : 'Healthy');
  const later = when === 'Healthy' ? entries : entries.filter(isData);
  // Reads the health of all objects: from then on the next change of any of them wakes the owner.
  const [problem] = later.length === 0 ? [] : [...set.ids].flatMap((id) => problemOf(id) ?? []);
  if (problem === undefined) return { now: entries, later: [] };
  const waiting = new Set(later);
  return {
    now: entries.filter((entry) => !waiting.has(entry)),
    later,
    blocked: { reason: progressReason.pruneHeld, message: messageOf(later, problem) },
  };
}

function messageOf(later: readonly InventoryEntry[], problem: string): string {
  const objects = later.map(({ resource, key }) => objectPath(resource.kind, key));
  return (
    `not deleted before all objects are healthy: ${shortList(objects, namedWaiting)}. ` +
    `Not healthy: ${problem.slice(0, longestProblem)}. ` +
    'If the new version needs one of these deletions first, delete that object with kubectl'
  );
}
