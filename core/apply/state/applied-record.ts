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

/** What the engine last applied for one object, and how it looked then. */
export interface AppliedRecord {
  readonly id: string;
  readonly owner: string;
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** Fields of it that others may change. */
  readonly ignored?: IgnoredTree | undefined;
  /** This process found it as it is, and has written nothing. */
  readonly found?: true;
  /** Digest of the desired object. */
  readonly digest: string;
  /** Digest of what it runs, where it ends by itself. */
  readonly runs?: string | undefined;
  /** Projection of the server's answer. */
  readonly projection: string;
  /** The state in which drift of it is accepted: spec.drift.mode is not Correct, and it was told. */
  accepted?: string | undefined;
  /** The object's line for the Healthy condition, as last reported. */
  problem: string | undefined;
  /** Why that line is no verdict of the owner's health rules, which are to judge the object. */
  missingVerdict?: MissingVerdict | undefined;
}

/** The record of an object that now is as desired. */
export function recordOf(desired: DesiredObject, entry: InventoryEntry): AppliedRecord {
  const { ignored } = desired;
  const { owner } = entry;
  const projection = projectionUnder(entry, ignored);
  return { ...recordWithout(desired, owner), projection };
}

/** The record of an object that is not as desired, or not there: nothing that it is later equals this. */
export function recordWithout(desired: DesiredObject, owner: string): AppliedRecord {
  const { id, resource, key, ignored, digest } = desired;
  const runs = runDigest(desired);
  return { id, owner, resource, key, ignored, digest, runs, projection: '', problem: undefined };
}

/** Digest of what an object runs until it ends; undefined where it is none that ends by itself. */
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

/** A status holds no more of them. */
const maxObjects = 500;

/**
 * The Jobs and Pods of one deployment that have ended by themselves. They are done for their Bundle: one that is
 * deleted afterwards, by its time to live or by others, is not missing.
 */
export class FinishedObjects {
  #bundle: string | undefined;
  #byID = new Map<string, FinishedObject>();

  /** Another Bundle runs everything anew; `finished` is what is known of this one from before. */
  begin({ bundle, finished = [] }: Origin): void {
    if (bundle === undefined || this.#bundle === bundle) return;
    this.#bundle = bundle;
    this.#byID = new Map(finished.map((object) => [idOf(object), object]));
  }

  /** Takes note where an object has ended; true where that is news. */
  note(record: AppliedRecord, object: KubernetesObject): boolean {
    const outcome = record.runs === undefined ? undefined : outcomeOf(object);
    return outcome !== undefined && this.#add(record, outcome);
  }

  /** For one that went while nobody looked. */
  assume(record: AppliedRecord): void {
    this.#add(record, 'Unknown');
  }

  /** How it ended; undefined where it has not, or where something else is to run now. */
  find({ id, runs }: Pick<AppliedRecord, 'id' | 'runs'>): Outcome | undefined {
    const found = this.#byID.get(id);
    return found !== undefined && found.digest === runs ? found.outcome : undefined;
  }

  /** Whether an object of a set has ended, by what is known here or was known before. */
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

  keepOnly(ids: ReadonlySet<string>): void {
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

/** True where Kubernetes deletes the object some time after it has ended. */
export function isCollected({ resource, object: { spec } }: Runnable): boolean {
  return isJob(resource) && fieldAt(spec, 'ttlSecondsAfterFinished') !== undefined;
}

/**
 * Of Jobs that failed only those count that Kubernetes deletes: where somebody deletes another one,
 * it is to run again.
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
