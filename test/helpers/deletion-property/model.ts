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

/** What the user wants of one BundleDeployment. */
export interface KnownDeployment {
  /** Undefined where it is not to be there. */
  version: Version | undefined;
  /** What core may be at work on: all versions since it was last seen at rest. */
  readonly pending: Set<Version>;
}

/**
 * What a user knows: which objects are foreign and how they look, what is to stay, and which
 * strangers bear marks of ours because the user has put them there.
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
  /** Annotated to be kept: to stay, whoever has them. */
  readonly kept = new Map<string, string | undefined>();
  /** May bear marks of ours without a deployment that has them. */
  readonly strangers = new Set<string>();
  /** Of a living deployment in all versions since it was last at rest: never made anew, with this UID. */
  readonly lasting = new Map<string, string | undefined>();
  /** `<deployment>:<id>`: what a deployment has left may be its own again, whatever a namesake adopts. */
  readonly mayReturn = new Set<string>();

  /** The user has deleted them: core does not repair what is installed while an upgrade is refused. */
  readonly deleted = new Set<string>();

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
    this.#endure(index, () => false);
  }

  #endure(index: number, stays: (id: string) => boolean): void {
    for (const id of versions.flatMap((version) => [...idsOf(index, version)])) {
      if (!stays(id)) this.lasting.delete(id);
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

  /** True where all that core may be at work on has this object. */
  isSettledContent(index: number, id: string): boolean {
    const { pending } = this.deployment(index);
    return pending.size > 0 && [...pending].every((version) => idsOf(index, version).has(id));
  }

  /**
   * A deployment may take over what it wants and nobody has, or what it had under another UID: from
   * then on it is that one's, to change and to delete.
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

/** True where several deployments want an object: it goes with the one that has it. */
export function isShared(id: string): boolean {
  return sharing.every((index) => idsOf(index, 1).has(id));
}

/** Name of the deployment that an object's labels name. */
export function labelledName({ metadata }: KubernetesObject): string | undefined {
  return metadata.labels?.[label.ownerName];
}

/** True where core made this very object for this very deployment. */
export function isMade(object: KubernetesObject, by: KubernetesObject): boolean {
  return trackedUID(object) === by.metadata.uid && labelledName(object) === by.metadata.name;
}

export function bearsMarks({ metadata }: KubernetesObject): boolean {
  const { labels = {}, annotations = {} } = metadata;
  return annotation.trackingID in annotations || label.ownerName in labels;
}
