import { fieldAt, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ApplyRequest, FinishedObject } from '../../contracts/applier.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import type { IgnoredTree } from '../fields/field-tree.ts';
import { digestOf } from '../fields/projection.ts';
import { isTrue, type MissingVerdict } from '../health/status.ts';
import { type InventoryEntry, projectionUnder } from '../inventory/entry.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { objectID } from '../objects/object-id.ts';

/** The object that the engine last applied, and its state afterwards. */
export interface AppliedRecord {
  readonly id: string;
  readonly owner: string;
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** Fields that core ignores. */
  readonly ignored?: IgnoredTree | undefined;
  /** This process found the object as desired, and has written nothing. */
  readonly found?: true;
  /** Digest of the desired object. */
  readonly digest: string;
  /** Digest of the part that runs, for an object that ends by itself. */
  readonly runs?: string | undefined;
  /** Projection of the server's response. */
  readonly projection: string;
  /** The reported drift state, when spec.drift.mode is not Correct. */
  accepted?: string | undefined;
  /** The object's line for the Healthy condition, as last reported. */
  problem: string | undefined;
  /** Set when that line only says that the owner's health rules have not judged the object. */
  missingVerdict?: MissingVerdict | undefined;
}

/**
 * The record of an object that is as desired. Its owner need not be the one that the entry is
 * labelled with: admission may have removed the labels, and then it has drifted.
 */
export function recordOf(
  desired: DesiredObject,
  entry: InventoryEntry,
  owner: string,
): AppliedRecord {
  return { ...recordWithout(desired, owner), projection: projectionUnder(entry, desired.ignored) };
}

/**
 * The record of an object that differs from the desired one, or is missing: no later state equals
 * it.
 */
export function recordWithout(desired: DesiredObject, owner: string): AppliedRecord {
  const { id, resource, key, ignored, digest } = desired;
  const runs = runDigest(desired);
  return { id, owner, resource, key, ignored, digest, runs, projection: '', problem: undefined };
}

/**
 * Digest of the part of a Job or Pod that runs; undefined for kinds that do not end by themselves.
 */
function runDigest({ resource, object: { spec } }: Runnable): string | undefined {
  if (isJob(resource)) return digestOf(spec);
  const isPod = resource.group === '' && resource.kind === 'Pod';
  return isPod && restartsUntilDone(spec) ? digestOf(spec) : undefined;
}

type Runnable = Pick<DesiredObject, 'resource' | 'object'>;

function isJob({ group, kind }: Runnable['resource']): boolean {
  return group === 'batch' && kind === 'Job';
}

function restartsUntilDone(spec: unknown): boolean {
  const policy = stringAt(spec, 'restartPolicy');
  return policy === 'Never' || policy === 'OnFailure';
}

type Outcome = FinishedObject['outcome'];
type Origin = Pick<ApplyRequest, 'bundle' | 'finished'>;

interface FinishedOf {
  readonly bundle: string | undefined;
  readonly byID: Map<string, FinishedObject>;
}

/** Limit of the list in the status. */
const maxObjects = 500;

/**
 * The Jobs and Pods of one deployment that have ended by themselves. They are done for their
 * Bundle: deleted afterwards, by their time to live or by others, they are not missing.
 */
export class FinishedObjects {
  #bundle: string | undefined;
  #byID = new Map<string, FinishedObject>();
  /** Those of the Bundle before, until this one is completely applied: it may be refused. */
  #former: FinishedOf | undefined;

  /** Another Bundle runs everything again; `finished` is the record of this Bundle from before. */
  begin({ bundle, finished = [] }: Origin): void {
    if (bundle === undefined || this.#bundle === bundle) return;
    const known = this.#former?.bundle === bundle ? this.#former.byID : undefined;
    this.#former = { bundle: this.#bundle, byID: this.#byID };
    this.#bundle = bundle;
    this.#byID = known ?? new Map(finished.map((object) => [idOf(object), object]));
  }

  /** Records that an object has ended; true when that is news. */
  note(record: AppliedRecord, object: KubernetesObject): boolean {
    const outcome = record.runs === undefined ? undefined : outcomeOf(object);
    return outcome !== undefined && this.#add(record, outcome);
  }

  /** Records the end of an object that was deleted while no process watched. */
  assume(record: AppliedRecord): void {
    this.#add(record, 'Unknown');
  }

  /** How it ended; undefined when it has not, or when something else must run now. */
  find({ id, runs }: Pick<AppliedRecord, 'id' | 'runs'>): Outcome | undefined {
    const found = this.#byID.get(id);
    return found !== undefined && found.digest === runs ? found.outcome : undefined;
  }

  /** Whether an object of a set has ended, by this record or by the earlier one in `finished`. */
  covers({ bundle, finished }: Origin, desired: DesiredObject): boolean {
    const runs = runDigest(desired);
    if (runs === undefined) return false;
    if (this.#bundle !== undefined && this.#bundle === bundle) {
      return this.#byID.get(desired.id)?.digest === runs;
    }
    return (
      finished?.some((object) => idOf(object) === desired.id && object.digest === runs) === true
    );
  }

  get all(): readonly FinishedObject[] {
    return [...this.#byID.values()].slice(0, maxObjects);
  }

  /** Call this when the Bundle is completely applied. */
  keepOnly(ids: ReadonlySet<string>): void {
    this.#former = undefined;
    for (const id of this.#byID.keys()) if (!ids.has(id)) this.#byID.delete(id);
  }

  #add({ id, resource, key, runs }: AppliedRecord, outcome: Outcome): boolean {
    if (this.#bundle === undefined || runs === undefined) return false;
    const before = this.#byID.get(id);
    if (before?.digest === runs && before.outcome === outcome) return false;
    const { group, kind } = resource;
    this.#byID.set(id, { group, kind, ...key, outcome, digest: runs });
    return true;
  }
}

/** True when Kubernetes deletes the object some time after its end. */
export function isCollected({ resource, object: { spec } }: Runnable): boolean {
  return isJob(resource) && fieldAt(spec, 'ttlSecondsAfterFinished') !== undefined;
}

/**
 * A failed Job counts as ended only if Kubernetes deletes it: when somebody else deletes one, it
 * must run again.
 */
function outcomeOf(object: KubernetesObject): Outcome | undefined {
  const { kind, spec, status } = object;
  if (kind === 'Pod') return stringAt(status, 'phase') === 'Succeeded' ? 'Succeeded' : undefined;
  if (isTrue(object, 'Complete')) return 'Succeeded';
  const collected = fieldAt(spec, 'ttlSecondsAfterFinished') !== undefined;
  return collected && isTrue(object, 'Failed') ? 'Failed' : undefined;
}

function idOf({ namespace, name, ...gvk }: FinishedObject): string {
  return objectID(gvk, { namespace, name });
}
