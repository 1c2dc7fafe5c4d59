import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import type { IgnoredTree } from '../fields/ignored-fields.ts';

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
  /** The state in which drift of it is let be: spec.drift.mode is not Correct, and it was told. */
  accepted?: string | undefined;
  /** The object's line for the Healthy condition, as last reported. */
  problem: string | undefined;
}

/** The sets last applied, by owner; lost with the process and found again by comparing. */
export class AppliedRecords {
  readonly #byID = new Map<string, AppliedRecord>();
  readonly #members = new Map<string, readonly string[]>();

  get(id: string): AppliedRecord | undefined {
    return this.#byID.get(id);
  }

  set(record: AppliedRecord): void {
    this.#byID.set(record.id, record);
  }

  /** Forgets what the owner knows of one object; another owner's record of it stays. */
  drop(id: string, owner: string): void {
    if (this.#byID.get(id)?.owner === owner) this.#byID.delete(id);
  }

  /** The owner's records, in the order of its objects. */
  of(owner: string): readonly AppliedRecord[] {
    return (this.#members.get(owner) ?? []).flatMap((id) => {
      const record = this.#byID.get(id);
      return record?.owner === owner ? [record] : [];
    });
  }

  /** Says which objects the owner has; records of others of its objects are forgotten. */
  keepOnly(owner: string, ids: readonly string[]): void {
    const kept = new Set(ids);
    for (const { id } of this.of(owner)) {
      if (!kept.has(id)) this.#byID.delete(id);
    }
    this.#members.set(owner, ids);
  }

  /** Makes objects known before they are applied, so that `forget` finds them after a failure. */
  extend(owner: string, ids: readonly string[]): void {
    this.#members.set(owner, [...new Set([...(this.#members.get(owner) ?? []), ...ids])]);
  }

  forget(owner: string): void {
    this.keepOnly(owner, []);
    this.#members.delete(owner);
  }
}
