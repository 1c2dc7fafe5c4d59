import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { trackedUID } from '../../../core/apply/objects/owner-marks.ts';
import {
  adoptionOf,
  deploymentCount,
  idOf,
  idsOf,
  nameOf,
  sharing,
  type Version,
  versions,
} from './content.ts';

/** The user's wishes for one BundleDeployment. */
export interface KnownDeployment {
  /** Undefined when the user wants no deployment. */
  version: Version | undefined;
  /** Versions that core may be working on: all since it was last idle. */
  readonly pending: Set<Version>;
}

/**
 * The user's knowledge: foreign objects and their content, objects that must stay, and foreign
 * objects with core's marks that the user has set.
 */
export class Model {
  readonly deployments: readonly KnownDeployment[] = Array.from(
    { length: deploymentCount },
    () => ({ version: undefined, pending: new Set() }),
  );
  /** To stay exactly as they are. */
  readonly foreign = new Map<string, KubernetesObject>();
  /** Left behind by a deployment: to stay, with this UID, whatever becomes of their marks. */
  readonly left = new Map<string, string | undefined>();
  /** Objects with a keep annotation: they must stay, with any owner. */
  readonly kept = new Map<string, string | undefined>();
  /** May bear marks of ours without a deployment that has them. */
  readonly strangers = new Set<string>();
  /**
   * Objects of an existing deployment in all versions since it was last idle: never recreated, with
   * this UID.
   */
  readonly lasting = new Map<string, string | undefined>();
  /**
   * `<deployment>:<id>`: a deployment's orphaned object may become its own again, even if a
   * deployment of the same name adopted others.
   */
  readonly mayReturn = new Set<string>();

  /**
   * Objects that the user deleted: core does not repair the installed version while an upgrade is
   * refused.
   */
  readonly deleted = new Set<string>();

  /**
   * Deployments whose upgrade a stop of core has interrupted: it may have pruned before the status
   * named the new version as active.
   */
  readonly interrupted = new Set<number>();

  addForeign(object: KubernetesObject): void {
    this.foreign.set(idOf(object), object);
    this.strangers.add(idOf(object));
  }

  /** The user deletes it. */
  drop(id: string): void {
    for (const known of [this.foreign, this.left, this.kept, this.lasting]) known.delete(id);
    this.deleted.add(id);
  }

  wants(index: number, version: Version): void {
    const known = this.deployment(index);
    known.version = version;
    known.pending.add(version);
    this.#endure(index, (id) => idsOf(index, version).has(id));
  }

  isDeleted(index: number): void {
    this.deployment(index).version = undefined;
    this.interrupted.delete(index);
    this.#endure(index, () => false);
  }

  #endure(index: number, stays: (id: string) => boolean): void {
    for (const id of versions.flatMap((version) => [...idsOf(index, version)])) {
      if (!stays(id)) this.lasting.delete(id);
    }
  }

  /** Core stops in the midst of its work. */
  interrupts(): void {
    for (const [index, { pending }] of this.deployments.entries()) {
      if (pending.size > 1) this.interrupted.add(index);
    }
  }

  /** Core has done all that it was asked for. */
  rest(content: ReadonlyMap<string, KubernetesObject>, isRefused: (name: string) => boolean): void {
    for (const [index, { version, pending }] of this.deployments.entries()) {
      pending.clear();
      if (version === undefined) continue;
      pending.add(version);
      // The refused installation undoes what it has made.
      if (isRefused(nameOf(index))) continue;
      this.interrupted.delete(index);
      for (const id of idsOf(index, version)) {
        const live = content.get(id);
        const isOwn = live !== undefined && labelledName(live) === nameOf(index);
        if (isOwn && !isShared(id)) this.lasting.set(id, live.metadata.uid);
      }
    }
  }

  deployment(index: number): KnownDeployment {
    const known = this.deployments[index];
    if (known === undefined) throw new Error(`there is no deployment ${index}`);
    return known;
  }

  /** True when all versions that core may be working on have this object. */
  isSettledContent(index: number, id: string): boolean {
    const { pending } = this.deployment(index);
    return pending.size > 0 && [...pending].every((version) => idsOf(index, version).has(id));
  }

  /**
   * A deployment may take over a wanted object without an owner, or its own one with another UID:
   * from then on it may change and delete the object.
   */
  takeOver(): void {
    for (const [index, { pending }] of this.deployments.entries()) {
      for (const id of [...pending].flatMap((version) => [...idsOf(index, version)])) {
        if (this.#mayTake(index, id)) this.foreign.delete(id);
        if (this.#mayTake(index, id)) this.left.delete(id);
      }
    }
  }

  #mayTake(index: number, id: string): boolean {
    return adoptionOf(index) === 'Unowned' || this.mayReturn.has(`${nameOf(index)}:${id}`);
  }
}

/** True when several deployments want an object: it is deleted with its owner. */
export function isShared(id: string): boolean {
  return sharing.every((index) => idsOf(index, 1).has(id));
}

/** Name of the deployment that an object's labels name. */
export function labelledName({ metadata }: KubernetesObject): string | undefined {
  return metadata.labels?.[label.ownerName];
}

/** True when core made exactly this object for exactly this deployment. */
export function isMade(object: KubernetesObject, by: KubernetesObject): boolean {
  return trackedUID(object) === by.metadata.uid && labelledName(object) === by.metadata.name;
}

export function bearsMarks({ metadata }: KubernetesObject): boolean {
  const { labels = {}, annotations = {} } = metadata;
  return annotation.trackingID in annotations || label.ownerName in labels;
}
