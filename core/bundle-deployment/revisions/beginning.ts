import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { AppliedStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { OutdatedOwnerError } from '../../apply/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  isDeletedSince,
  isOutdated,
  type PhaseContext,
} from '../phase.ts';
import { isOther, waitingOf } from '../rendering/applied-content.ts';
import type { Recipe } from '../rendering/rendered-objects.ts';
import { installFailure } from '../status.ts';

/**
 * Records what core is about to apply, and where, when the engine has checked everything: from then
 * on it may be applied in part. Writes the replaced rendering and the begun Bundle before the first
 * object: otherwise a crash during the upgrade would lose them. After a revert of the upgrade core
 * would not know who asked for the deletions, and the next process might go back because of something
 * that the Bundle must wait for. What is refused before that has not begun: the active Bundle is
 * kept in place.
 */
export class Beginning {
  readonly #state: BundleDeploymentState;
  readonly #dependencies: ReconcileDependencies;
  readonly #context: Pick<PhaseContext, 'live'>;
  #status: BundleDeploymentStatus | undefined;
  #failed = false;

  constructor(
    state: BundleDeploymentState,
    dependencies: ReconcileDependencies,
    context: Pick<PhaseContext, 'live'>,
  ) {
    this.#state = state;
    this.#dependencies = dependencies;
    this.#context = context;
  }

  /** As given, until the note is made. */
  get status(): BundleDeploymentStatus {
    return this.#status ?? this.#state.status;
  }

  /**
   * The findings of an apply that has failed. When the note could not be written, nothing was applied,
   * and the status tells nothing of it. `remembered` adds to the status what the apply has found.
   */
  failure(
    error: unknown,
    remembered: (status: BundleDeploymentStatus) => BundleDeploymentStatus,
  ): Pick<BundleDeploymentState, 'status'> & Pick<Found, 'error' | 'begun'> {
    const { status } = this;
    if (this.#failed) return { status, error };
    const failure = installFailure({ status: remembered(status) }, error, this.#dependencies);
    return this.#status === undefined ? failure : { ...failure, begun: true };
  }

  /** @throws Error of the API server; OutdatedOwnerError when its answer shows another spec. */
  async note(): Promise<void> {
    if (this.#status !== undefined) return;
    const { lastApplied, systemNamespace } = this.#dependencies;
    const { deployment, recipe } = this.#state;
    const installNamespace = installNamespaceOf(deployment, systemNamespace);
    const status = { ...withEndedRollback(this.#state), installNamespace };
    const noted = withSuperseded({ recipe, status });
    const { applied } = noted;
    const before = deployment.status?.applied?.begun;
    if (applied?.begun !== undefined && applied.begun !== before) await this.#write(applied);
    if (recipe !== undefined) lastApplied.begin(deployment, recipe);
    this.#status = noted;
  }

  async #write(applied: AppliedStatus): Promise<void> {
    const { live } = this.#context;
    const { deployment } = this.#state;
    try {
      await live.writeStatus({ ...deployment.status, applied });
    } catch (error) {
      this.#failed = true;
      throw error;
    }
    if (!isOutdated(deployment, { live }) && !isDeletedSince(deployment, { live })) return;
    throw new OutdatedOwnerError(
      `BundleDeployment "${deployment.metadata.name}" changed while core checked it: core continues with its present spec`,
    );
  }
}

/** The status without the rollback that the Bundle of a changed template replaces. */
function withEndedRollback({
  status,
  bundle,
  target,
}: BundleDeploymentState): BundleDeploymentStatus {
  const { rollback: _, ...rest } = status;
  return target === bundle ? rest : status;
}

/**
 * The status before the target is applied. A target with another rendering than the last complete
 * apply may leave objects behind, which a way back deletes. It may also create objects again of
 * which other content awaited the deletion. The way back ends what has begun.
 */
function withSuperseded({
  status,
  recipe,
}: Pick<BundleDeploymentState, 'status' | 'recipe'>): BundleDeploymentStatus {
  if (recipe === undefined) return status;
  const { applied, waitingDeletions: _, ...rest } = status;
  const waitingDeletions = waitingOf(status, recipe);
  return {
    ...rest,
    ...(applied && { applied: withBegunBundle(applied, recipe) }),
    ...(waitingDeletions && { waitingDeletions }),
  };
}

function withBegunBundle(noted: AppliedStatus, recipe: Recipe): AppliedStatus {
  const { begun: _, ...applied } = noted;
  if (!isOther(applied, recipe)) return applied;
  return { ...applied, superseded: true, begun: recipe.bundle.metadata.name ?? '' };
}
