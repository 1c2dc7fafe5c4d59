import { fieldAt, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ApplyRequest, FinishedObject } from '../../contracts/applier.ts';
import { isTrue } from '../health/status.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { objectID } from '../objects/object-id.ts';
import { type AppliedRecord, isJob, runDigest } from './applied-record.ts';

type Outcome = FinishedObject['outcome'];
type Origin = Pick<ApplyRequest, 'bundle' | 'finished'>;
type Run = Pick<DesiredObject, 'resource' | 'object'>;

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
export function isCollected({ resource, object: { spec } }: Run): boolean {
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
