import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { kstatusCondition, readyReason } from '../../api/v1alpha1/conditions.ts';
import { finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { errorMessage } from '../errors.ts';
import {
  type addFinalizer,
  findCondition,
  type removeFinalizer,
  statusPatch,
  withReadiness,
} from '../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { BundleDeploymentState, StepContext } from './phase.ts';

/** Milliseconds that a class may take without a word about it. */
const patience = 10_000;

/**
 * Says in the status of one deployment that its class is at work, where that takes long: nothing else
 * is written before it is done. What is Ready stays so: a restart has every class work again.
 */
export class SlowClass {
  readonly #state: BundleDeploymentState;
  readonly #dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments' | 'clock'>;
  readonly #context: Pick<StepContext, 'signal' | 'logger'>;
  #writing = Promise.resolve();

  constructor(
    state: BundleDeploymentState,
    dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments' | 'clock'>,
    context: Pick<StepContext, 'signal' | 'logger'>,
  ) {
    this.#state = state;
    this.#dependencies = dependencies;
    this.#context = context;
  }

  /** Runs a handler; `doing` is told once it takes long. */
  async run<T>(doing: string, handler: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#writing = this.#announce(doing);
    }, patience);
    try {
      return await handler();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when nothing is being written any more: a status has one writer. */
  async end(): Promise<void> {
    await this.#writing;
  }

  async #announce(message: string): Promise<void> {
    const { client, deployments } = this.#dependencies;
    const { signal, logger } = this.#context;
    const { deployment } = this.#state;
    if (isReady(deployment)) return;
    const patch = statusPatch(deployment, this.#statusOf(deployment, message));
    if (patch === undefined) return;
    const key = { name: deployment.metadata.name ?? '' };
    const target = { resource: bundleDeploymentResource, key };
    try {
      const options = { type: 'json', subresource: 'status', signal } as const;
      const written = (await client.patch(target, patch, options)) as BundleDeployment;
      this.#state.deployment = written;
      deployments.upsertIfNewer(written);
    } catch (error) {
      logger.debug({ error: errorMessage(error) }, 'cannot say that a class is at work');
    }
  }

  /** Of the present generation only Ready speaks: nothing else was found out about it. */
  #statusOf({ metadata, status = {} }: BundleDeployment, message: string): object {
    const readiness = {
      status: 'False',
      reason: readyReason.classAtWork,
      message,
      outlook: 'reconciling',
      observedGeneration: metadata.generation,
    } as const;
    const conditions = withReadiness(status.conditions ?? [], readiness, this.#dependencies.clock);
    return { ...status, conditions };
  }
}

function isReady({ metadata, status }: BundleDeployment): boolean {
  const ready = findCondition(status?.conditions, kstatusCondition.ready);
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

/** Sets annotations of the deployment, `null` removes one; the state has it as it is then. */
export async function annotate(
  state: BundleDeploymentState,
  annotations: Readonly<Record<string, string | null>>,
  {
    dependencies: { client, deployments },
    signal,
  }: {
    readonly dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments'>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { name = '', uid } = state.deployment.metadata;
  // The uid is refused where a namesake has come.
  const patch = { metadata: { uid, annotations } };
  const target = { resource: bundleDeploymentResource, key: { name } };
  const written = await client.patch(target, patch, { type: 'merge', signal });
  state.deployment = written as BundleDeployment;
  deployments.upsertIfNewer(state.deployment);
}

/**
 * Adds or removes the finalizer where that changes anything; the state has the deployment as it is
 * then. A conflict means that somebody else was quicker: to be tried again.
 */
export async function writeFinalizer(
  state: BundleDeploymentState,
  write: typeof addFinalizer | typeof removeFinalizer,
  {
    dependencies: { client, deployments },
    context: { signal },
  }: {
    readonly dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments'>;
    readonly context: Pick<StepContext, 'signal'>;
  },
): Promise<void> {
  const target = { client, resource: bundleDeploymentResource, signal };
  const written = await write(target, state.deployment, finalizer.deleteObjects);
  if (written === undefined) return;
  state.deployment = written as BundleDeployment;
  deployments.upsertIfNewer(state.deployment);
}
