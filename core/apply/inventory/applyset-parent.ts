import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { withNote } from '../../../api/v1alpha1/noted-value.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
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
   * Writes the marks where they are not yet so, with our finalizer: nobody but core is to delete what
   * core applies from here on. A conflict means that somebody else was quicker: to be tried again.
   */
  async write(
    owner: BundleDeployment,
    kinds: Iterable<GroupKind>,
    signal: AbortSignal,
  ): Promise<void> {
    const name = owner.metadata.name ?? '';
    const wanted = {
      id: deploymentApplySetID(name),
      groupKinds: formatGroupKinds(kinds),
      tooling: applySetTooling,
      installNamespace: withNote(name, installNamespaceOf(owner, this.#systemNamespace)),
    };
    const latest = this.#latest(owner);
    const guard = guardOf(latest);
    if (guard === undefined && isDeepStrictEqual(marksOf(latest), wanted)) return;
    const metadata = {
      ...guard,
      // A namesake made meanwhile is not to be touched.
      uid: owner.metadata.uid,
      labels: { [applySetKey.id]: wanted.id },
      annotations: {
        [applySetKey.groupKinds]: wanted.groupKinds,
        [applySetKey.tooling]: wanted.tooling,
        [annotation.installNamespace]: wanted.installNamespace,
      },
    };
    const target = { resource: bundleDeploymentResource, key: { name } };
    this.#written.set(
      name,
      await this.#client.patch(target, { metadata }, { type: 'merge', signal }),
    );
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
