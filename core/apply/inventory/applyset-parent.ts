import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { withNote } from '../../../api/v1alpha1/noted-value.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { isConflict, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { stringAt } from '../fields/json-fields.ts';
import {
  applySetKey,
  applySetTooling,
  deploymentApplySetID,
  formatGroupKinds,
  parseGroupKinds,
} from '../objects/applyset.ts';
import type { GroupKind } from '../objects/group-kind.ts';
import { isNewer } from '../objects/object-id.ts';

/** Tries of a write that others are quicker than. */
const attempts = 5;

/**
 * Keeps the ApplySet marks on the parents: which kinds a deployment's objects are of. With them goes
 * where those are that name no namespace: a backup may lack the status.
 */
export class ApplySetParents {
  readonly #client: KubeClient;
  readonly #systemNamespace: string;
  /** The last answers to our own patches: what a watch hands in may be older. */
  readonly #written = new Map<string, KubernetesObject>();

  /** UID and version of each parent as it was last handed in. */
  readonly #handedIn = new Map<string, Pick<KubernetesObject, 'metadata'>>();

  constructor(client: KubeClient, systemNamespace: string) {
    this.#client = client;
    this.#systemNamespace = systemNamespace;
  }

  /** True where the deployment has been marked as a parent: we have had it before. */
  isParent(owner: BundleDeployment): boolean {
    return marksOf(this.#latest(owner)).id === deploymentApplySetID(owner.metadata.name ?? '');
  }

  /** The kinds that the parent says its set may have. */
  kinds(owner: BundleDeployment): readonly GroupKind[] {
    return parseGroupKinds(marksOf(this.#latest(owner)).groupKinds);
  }

  /**
   * Writes the marks where they are not yet so, with our finalizer: only core may delete what core
   * applies from here on. Where somebody changed the parent since it was read, reads it once more.
   * @throws ApiError with a conflict where the parent is being deleted, is another one by now, or
   * somebody else is quicker each time.
   */
  async write(
    owner: BundleDeployment,
    kinds: Iterable<GroupKind>,
    signal: AbortSignal,
  ): Promise<void> {
    const { name = '', uid } = owner.metadata;
    const wanted = {
      id: deploymentApplySetID(name),
      groupKinds: formatGroupKinds(kinds),
      tooling: applySetTooling,
      installNamespace: withNote(name, installNamespaceOf(owner, this.#systemNamespace)),
    };
    const target = { resource: bundleDeploymentResource, key: { name } };
    let latest = this.#latest(owner);
    for (let attempt = 1; !isMarked(latest, wanted); attempt += 1) {
      try {
        const patch = patchOf(latest, uid, wanted);
        latest = await this.#client.patch(target, patch, { type: 'merge', signal });
        this.#written.set(name, latest);
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === attempts) throw error;
        const live = await liveObject(this.#client, target, signal);
        if (live === undefined || !isSameAndStays(live, uid)) throw error;
        latest = live;
        this.#written.set(name, live);
      }
    }
  }

  forget(name: string): void {
    this.#written.delete(name);
    this.#handedIn.delete(name);
  }

  #latest(owner: BundleDeployment): KubernetesObject {
    const { name = '' } = owner.metadata;
    this.#forgetLost(owner);
    const written = this.#written.get(name);
    return written !== undefined &&
      written.metadata.uid === owner.metadata.uid &&
      isNewer(written, owner)
      ? written
      : owner;
  }

  /** Where the server's store was restored to a state before what we have written, that is lost. */
  #forgetLost({ metadata: { name = '', uid = '', resourceVersion = '' } }: BundleDeployment): void {
    const now = { metadata: { uid, resourceVersion } };
    const before = this.#handedIn.get(name);
    const isSame = before?.metadata.uid === uid;
    if (isSame && isNewer(before, now)) this.#written.delete(name);
    this.#handedIn.set(name, now);
  }
}

/** What adds our finalizer to those of others, as they are in that version; nothing where it is there. */
function guardOf({
  metadata: { finalizers = [], resourceVersion = '' },
}: KubernetesObject): Pick<ObjectMeta, 'finalizers' | 'resourceVersion'> | undefined {
  if (finalizers.includes(finalizer.deleteObjects)) return undefined;
  return { resourceVersion, finalizers: [...finalizers, finalizer.deleteObjects] };
}

function isMarked(parent: KubernetesObject, wanted: ParentMarks): boolean {
  return guardOf(parent) === undefined && isDeepStrictEqual(marksOf(parent), wanted);
}

function patchOf(
  parent: KubernetesObject,
  uid: string | undefined,
  wanted: Record<keyof ParentMarks, string>,
): object {
  return {
    metadata: {
      ...guardOf(parent),
      // A namesake made meanwhile is not to be touched.
      uid,
      labels: { [applySetKey.id]: wanted.id },
      annotations: {
        [applySetKey.groupKinds]: wanted.groupKinds,
        [applySetKey.tooling]: wanted.tooling,
        [annotation.installNamespace]: wanted.installNamespace,
      },
    },
  };
}

function isSameAndStays({ metadata }: KubernetesObject, uid: string | undefined): boolean {
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}

interface ParentMarks {
  readonly id: string | undefined;
  readonly groupKinds: string | undefined;
  readonly tooling: string | undefined;
  readonly installNamespace: string | undefined;
}

function marksOf({ metadata }: KubernetesObject): ParentMarks {
  return {
    id: stringAt(metadata.labels, applySetKey.id),
    groupKinds: stringAt(metadata.annotations, applySetKey.groupKinds),
    tooling: stringAt(metadata.annotations, applySetKey.tooling),
    installNamespace: stringAt(metadata.annotations, annotation.installNamespace),
  };
}
