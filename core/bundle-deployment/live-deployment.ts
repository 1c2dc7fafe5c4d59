import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../api/v1alpha1/bundle-deployment.ts';
import { readyReason } from '../../api/v1alpha1/conditions.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { errorMessage } from '../errors.ts';
import {
  addFinalizer,
  removeFinalizer,
  statusPatch,
  withReadiness,
} from '../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { DeploymentMemory, Durations } from './memory.ts';
import type { PhaseContext } from './phase.ts';
import { believed, forgedDigest, isBelieved, noteFor } from './revisions/noted-status.ts';
import { isReady } from './status.ts';

/** Milliseconds of a class's work before the status announces it. */
const patience = 10_000;

type LiveDependencies = Pick<
  BundleDeploymentDependencies,
  'client' | 'deployments' | 'clock' | 'events'
>;

interface LiveContext extends Pick<PhaseContext, 'signal' | 'logger'> {
  readonly memory: DeploymentMemory;
}

/** One deployment during one reconcile, as last read; every write to it goes through here. */
export class LiveDeployment {
  #stored: BundleDeployment;
  #object: BundleDeployment;
  readonly #dependencies: LiveDependencies;
  readonly #context: LiveContext;
  #announcing = Promise.resolve();
  #atWork: string | undefined;

  constructor(deployment: BundleDeployment, dependencies: LiveDependencies, context: LiveContext) {
    this.#stored = deployment;
    this.#dependencies = dependencies;
    this.#context = context;
    this.#object = this.#believe(deployment);
  }

  /** As last read from or written to the API server, with the status that core believes. */
  get object(): BundleDeployment {
    return this.#object;
  }

  /** How long something of the deployment with a time limit has taken. */
  get durations(): Durations {
    return this.#context.memory.durations;
  }

  /** Sets annotations, `null` removes one. */
  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const { uid } = this.#object.metadata;
    // With the uid, the API server refuses the patch for a recreated deployment.
    const patch = { metadata: { uid, annotations } };
    const { signal } = this.#context;
    const options = { type: 'merge', signal } as const;
    this.#take(await this.#dependencies.client.patch(this.#target, patch, options));
  }

  /**
   * Adds the finalizer if it is missing.
   * @throws ApiError with a conflict when the deployment changed meanwhile.
   */
  async guard(): Promise<void> {
    await this.#writeFinalizer(addFinalizer);
  }

  /** Removes the finalizer, because core has finished with the deployment. */
  async release(): Promise<void> {
    await this.#writeFinalizer(removeFinalizer);
  }

  /**
   * Writes the status if it differs, and before it the note without which core would not believe
   * it; returns the deployment with it.
   */
  async writeStatus(status: BundleDeploymentStatus): Promise<BundleDeployment> {
    await this.announced();
    return await this.#writeStatus(status);
  }

  async #writeStatus(status: BundleDeploymentStatus): Promise<BundleDeployment> {
    const stored = this.#stored;
    const patch = statusPatch(stored, status);
    if (patch !== undefined) {
      if (!isBelieved({ ...stored, status })) {
        const former = isBelieved(stored) ? stored.status : undefined;
        await this.#note(noteFor(stored, status, former));
      }
      const { signal } = this.#context;
      const options = { type: 'json', subresource: 'status', signal } as const;
      this.#take(await this.#dependencies.client.patch(this.#target, patch, options));
    }
    // From now on the status before does not count: somebody could write it again.
    await this.#note(noteFor(this.#stored, status));
    return this.#object;
  }

  async #note(note: string | undefined): Promise<void> {
    const key = annotation.notedStatus;
    if (this.#stored.metadata.annotations?.[key] === note) return;
    await this.annotate({ [key]: note ?? null });
  }

  /**
   * Runs a handler of a class, and announces it in the status when it takes long; the status is
   * written only after that. Ready stays True, because every class works again after a restart.
   */
  async whileAtWork<T>(name: string, handler: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#announcing = this.#announce(`${name} is at work`);
    }, patience);
    this.#atWork = name;
    try {
      return await handler();
    } finally {
      this.#atWork = undefined;
      clearTimeout(timer);
    }
  }

  /** Name of the handler that is at work, if any. */
  get atWork(): string | undefined {
    return this.#atWork;
  }

  /**
   * Resolves when no announcement is being written: only one writer at a time may write the status.
   */
  async announced(): Promise<void> {
    await this.#announcing;
  }

  /**
   * Only Ready gets the present generation, because no other condition has been evaluated for it.
   */
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
      await this.#writeStatus({ ...status, conditions: [...conditions] });
    } catch (error) {
      const { logger } = this.#context;
      logger.debug({ error: errorMessage(error) }, 'cannot say that a class is at work');
    }
  }

  async #writeFinalizer(write: typeof addFinalizer): Promise<void> {
    const { client } = this.#dependencies;
    const target = { client, resource: bundleDeploymentResource, signal: this.#context.signal };
    const written = await write(target, this.#stored, finalizer.deleteObjects);
    if (written !== undefined) this.#take(written);
  }

  get #target() {
    const { name = '' } = this.#object.metadata;
    return { resource: bundleDeploymentResource, key: { name } };
  }

  #take(written: unknown): void {
    this.#stored = written as BundleDeployment;
    this.#object = this.#believe(this.#stored);
    this.#dependencies.deployments.upsertIfNewer(this.#stored);
  }

  #believe(stored: BundleDeployment): BundleDeployment {
    const { memory } = this.#context;
    if (isBelieved(stored)) {
      const { metadata, status = {} } = stored;
      if (noteFor(stored, status) === undefined) delete memory.believed;
      else memory.believed = { uid: metadata.uid, status };
      return stored;
    }
    const forged = forgedDigest(stored, memory);
    if (forged !== undefined && forged !== memory.forged) this.#tellForged(stored);
    if (forged !== undefined) memory.forged = forged;
    return believed(stored, memory);
  }

  #tellForged(stored: BundleDeployment): void {
    const event = { type: 'Warning', reason: 'StatusRestored' } as const;
    const message = isNoted(stored) ? writtenByOthers : withoutNote;
    this.#dependencies.events.event(stored, { ...event, message });
  }
}

const writtenByOthers =
  'Another client wrote history, rollback or approval into the status. ' +
  'Core restores its own values. Find out who may write bundledeployments/status';

const withoutNote =
  `The status has a history, rollback or approval without annotation ${annotation.notedStatus}, in which core notes its own. ` +
  'Core does not use them. If you upgraded core from a version without the annotation, or ran kubectl replace ' +
  'or a restore without annotations, nothing else is wrong; otherwise find out who may write bundledeployments/status';

function isNoted({ metadata }: BundleDeployment): boolean {
  return metadata.annotations?.[annotation.notedStatus] !== undefined;
}
