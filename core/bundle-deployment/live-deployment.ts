import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { readyReason } from '../../api/v1alpha1/conditions.ts';
import { finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { errorMessage } from '../errors.ts';
import {
  addFinalizer,
  removeFinalizer,
  statusPatch,
  withReadiness,
} from '../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { PhaseContext } from './phase.ts';
import { isReady } from './status.ts';

/** Milliseconds that a class may take without a word about it. */
const patience = 10_000;

/** One deployment in one reconcile, as the API server has it: every write to it goes through here. */
export class LiveDeployment {
  #object: BundleDeployment;
  readonly #dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments' | 'clock'>;
  readonly #context: Pick<PhaseContext, 'signal' | 'logger'>;
  #announcing = Promise.resolve();

  constructor(
    deployment: BundleDeployment,
    dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments' | 'clock'>,
    context: Pick<PhaseContext, 'signal' | 'logger'>,
  ) {
    this.#object = deployment;
    this.#dependencies = dependencies;
    this.#context = context;
  }

  /** As last read from or written to the API server. */
  get object(): BundleDeployment {
    return this.#object;
  }

  /** Sets annotations, `null` removes one. */
  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const { uid } = this.#object.metadata;
    // The uid is refused where a namesake has come.
    const patch = { metadata: { uid, annotations } };
    const { signal } = this.#context;
    const options = { type: 'merge', signal } as const;
    this.#take(await this.#dependencies.client.patch(this.#target, patch, options));
  }

  /** Adds the finalizer where it is missing. A conflict means that somebody else was quicker. */
  async guard(): Promise<void> {
    await this.#writeFinalizer(addFinalizer);
  }

  /** Removes the finalizer: nothing is left to do for the deployment. */
  async release(): Promise<void> {
    await this.#writeFinalizer(removeFinalizer);
  }

  /** Writes the status where it differs; returns the deployment with it. */
  async writeStatus(status: object): Promise<BundleDeployment> {
    const patch = statusPatch(this.#object, status);
    if (patch === undefined) return this.#object;
    const { signal } = this.#context;
    const options = { type: 'json', subresource: 'status', signal } as const;
    this.#take(await this.#dependencies.client.patch(this.#target, patch, options));
    return this.#object;
  }

  /**
   * Runs a handler of a class, and says in the status that it is at work where that takes long: nothing
   * else is written before it is done. What is Ready stays so: a restart has every class work again.
   */
  async whileAtWork<T>(doing: string, handler: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#announcing = this.#announce(doing);
    }, patience);
    try {
      return await handler();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when nothing is being announced any more: a status has one writer. */
  async announced(): Promise<void> {
    await this.#announcing;
  }

  /** Of the present generation only Ready speaks: nothing else was found out about it. */
  async #announce(message: string): Promise<void> {
    const { metadata, status = {} } = this.#object;
    if (isReady(this.#object)) return;
    const readiness = {
      status: 'False',
      reason: readyReason.classAtWork,
      message,
      outlook: 'reconciling',
      observedGeneration: metadata.generation,
    } as const;
    const conditions = withReadiness(status.conditions ?? [], readiness, this.#dependencies.clock);
    try {
      await this.writeStatus({ ...status, conditions });
    } catch (error) {
      const { logger } = this.#context;
      logger.debug({ error: errorMessage(error) }, 'cannot say that a class is at work');
    }
  }

  async #writeFinalizer(write: typeof addFinalizer): Promise<void> {
    const { client } = this.#dependencies;
    const target = { client, resource: bundleDeploymentResource, signal: this.#context.signal };
    const written = await write(target, this.#object, finalizer.deleteObjects);
    if (written !== undefined) this.#take(written);
  }

  get #target() {
    const { name = '' } = this.#object.metadata;
    return { resource: bundleDeploymentResource, key: { name } };
  }

  #take(written: unknown): void {
    this.#object = written as BundleDeployment;
    this.#dependencies.deployments.upsertIfNewer(this.#object);
  }
}
