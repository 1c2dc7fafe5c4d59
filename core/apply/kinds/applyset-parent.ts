import { isDeepStrictEqual } from 'node:util';
import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { withNote } from '../../../api/v1alpha1/rules/noted-value.ts';
import { isConflict, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { type GroupKind, isNewer } from '../objects/object-id.ts';
import {
  applySetKey,
  applySetTooling,
  deploymentApplySetID,
  formatGroupKinds,
  parseGroupKinds,
} from '../objects/owner-marks.ts';
import type { OwnerStates } from '../state/owner-states.ts';

interface ApplySetParentsOptions {
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly systemNamespace: string;
  readonly owners: OwnerStates;
}

/** Maximum attempts of a write that meets conflicts. */
const attempts = 5;

/**
 * Keeps the ApplySet marks of the parents: the kinds of a deployment's objects, and the namespace
 * for objects that name none. Both survive a backup that lacks the status.
 */
export class ApplySetParents {
  readonly #options: ApplySetParentsOptions;

  constructor(options: ApplySetParentsOptions) {
    this.#options = options;
  }

  /** True when the deployment has the marks of a parent: core has applied for it before. */
  isParent(owner: BundleDeployment): boolean {
    return isApplySetParent(this.#latest(owner));
  }

  /** The kinds that the parent's marks list. */
  kinds(owner: BundleDeployment): readonly GroupKind[] {
    return applySetKinds(this.#latest(owner));
  }

  /**
   * Writes the marks if they differ, and core's finalizer: from then on only core may delete the
   * applied objects. Reads the parent again when somebody changed it.
   * @throws ApiError with a conflict when the parent is being deleted or was replaced, or when
   * every attempt meets a conflict.
   */
  async write(
    owner: BundleDeployment,
    kinds: Iterable<GroupKind>,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, systemNamespace, owners } = this.#options;
    const { name = '', uid } = owner.metadata;
    const state = owners.of(name);
    const wanted = {
      id: deploymentApplySetID(name),
      groupKinds: formatGroupKinds(kinds),
      tooling: applySetTooling,
      installNamespace: withNote(name, installNamespaceOf(owner, systemNamespace)),
    };
    const target = { resource: bundleDeploymentResource, key: { name } };
    let latest = this.#latest(owner);
    for (let attempt = 1; !isMarked(latest, wanted); attempt += 1) {
      try {
        const patch = patchOf(latest, uid, wanted);
        state.parent = await client.patch(target, patch, { type: 'merge', signal });
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === attempts) throw error;
        const live = await liveObject(client, target, signal);
        if (live === undefined || !isSameAndStays(live, uid)) throw error;
        latest = live;
        state.parent = live;
      }
    }
  }

  /** After a restore of the server's store, what core wrote may be lost. */
  #latest(owner: BundleDeployment): KubernetesObject {
    const { name = '', uid = '', resourceVersion = '' } = owner.metadata;
    const state = this.#options.owners.of(name);
    const now = { metadata: { uid, resourceVersion } };
    const before = state.handedIn;
    if (before?.metadata.uid === uid && isNewer(before, now)) state.parent = undefined;
    state.handedIn = now;
    const { parent } = state;
    if (parent === undefined || parent.metadata.uid !== owner.metadata.uid) return owner;
    return isNewer(parent, owner) ? parent : owner;
  }
}

/** True when the deployment has the label of an ApplySet parent. */
export function isApplySetParent(owner: KubernetesObject): boolean {
  return marksOf(owner).id === deploymentApplySetID(owner.metadata.name ?? '');
}

/** The kinds that the parent's annotation lists. */
export function applySetKinds(owner: KubernetesObject): readonly GroupKind[] {
  return parseGroupKinds(marksOf(owner).groupKinds);
}

/**
 * The fields that add core's finalizer to the present ones, bound to that version; empty when it is
 * there.
 */
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
      // Fails when a new deployment has the name meanwhile.
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
