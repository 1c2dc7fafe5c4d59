import type { KubernetesObject } from '../../../api/meta.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
import type { Installation } from '../deployment/installation.ts';
import { wayBack } from '../deployment/rollout.ts';
import type { Extension } from '../extension.ts';
import type { Choice, ResolvedChoice } from '../findings.ts';
import { claimantName } from './made-operator.ts';

/** An Operator or ClusterExtension, and what its bundles require. */
export interface Requirer {
  /** Its claimant name. */
  readonly name: string;
  readonly object: KubernetesObject;
  /** Undefined if it is not known: a catalog is pending, or nothing meets the spec. */
  readonly choice: ResolvedChoice | undefined;
  /** Whether the BundleDeployment has the chosen bundle; that of a ClusterExtension never waits. */
  readonly isPlaced: boolean;
  /**
   * Other bundles that the BundleDeployment has: those of before an upgrade, and the one to which core
   * may still roll back.
   */
  readonly earlier: readonly BundleRecord[];
}

/** What is known of all Operators and ClusterExtensions, each as of its last reconcile. */
export class Requirers {
  readonly #known = new Map<string, Requirer>();

  /** Returns whether something differs from before. */
  note(extension: Extension, choice: Choice | undefined, installation: Installation): boolean {
    const now = requirerOf(extension, choice, installation);
    const known = this.#known.get(now.name);
    if (known !== undefined && isSame(known, now)) return false;
    this.#known.set(now.name, now);
    return true;
  }

  /** Returns whether it was known. */
  forget(name: string): boolean {
    return this.#known.delete(name);
  }

  get(object: KubernetesObject): Requirer | undefined {
    return this.#known.get(claimantName(object));
  }
}

function requirerOf(
  { object }: Extension,
  choice: Choice | undefined,
  { deployment, record, installed }: Installation,
): Requirer {
  const resolved = choice?.kind === 'resolved' ? choice : undefined;
  const image = resolved?.bundle.image;
  const before = deployment && wayBack(deployment);
  const last = record?.earlier.find(({ bundle }) => bundle === before);
  const present = new Map([record?.selected, installed, last].map((each) => [each?.image, each]));
  const earlier = [...present.values()].flatMap((each) =>
    each === undefined || each.image === image ? [] : [each],
  );
  const isPlaced =
    object.kind !== operatorResource.kind ||
    (image !== undefined && record?.selected.image === image);
  return { name: claimantName(object), object, choice: resolved, isPlaced, earlier };
}

function isSame(known: Requirer, now: Requirer): boolean {
  return (
    known.object.metadata.uid === now.object.metadata.uid &&
    known.choice === now.choice &&
    known.isPlaced === now.isPlaced &&
    imagesOf(known.earlier) === imagesOf(now.earlier)
  );
}

function imagesOf(records: readonly BundleRecord[]): string {
  return records.map(({ image }) => image).join();
}
