import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ApplyRequest } from '../../contracts/applier.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { DesiredSet } from '../content/desired-set.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { GroupKind } from '../objects/group-kind.ts';
import type { OwnerState } from '../state/owner-state.ts';

/** One apply of one owner's set. */
export interface Run {
  readonly owner: BundleDeployment;
  /** The owner's name. */
  readonly name: string;
  readonly state: OwnerState;
  /** Reads and writes the owner's objects, with the permissions that the owner has. */
  readonly client: KubeClient;
  readonly operation: 'install' | 'upgrade';
  readonly set: DesiredSet;
  /** What is created when its time comes: no part of the set. */
  readonly hooks: readonly DesiredObject[];
  /** Kinds that an earlier set of this owner may have left objects of: ours, or RukPak's. */
  readonly earlier: readonly GroupKind[];
  /** Each stage begins only when the one before is healthy. */
  readonly waitForReady: boolean;
  /** Only what must be there before hooks. */
  readonly foundationOnly: boolean;
  /** The same content was applied completely before. */
  readonly unchanged: boolean;
  /** As in `ApplyRequest`. */
  readonly deletionsAsked?: boolean;
  readonly changedFacts?: string | undefined;
  /** The Bundle that the set is of, and what of it has ended by itself. */
  readonly origin: Pick<ApplyRequest, 'bundle' | 'finished'>;
  readonly signal: AbortSignal;
}

/** The kinds of all that a run may create, whose objects the ApplySet may have. */
export function kindsOf({ set, hooks }: Run): readonly GroupKind[] {
  return [...set.resources, ...hooks.map(({ resource }) => resource)];
}
