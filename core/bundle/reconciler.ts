import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { unlessGone } from '../platform/kube/index.ts';
import { Semaphore, statusPatch } from '../platform/runtime/index.ts';
import type { BundleDependencies, BundleState, StepContext, StepOutcome } from './dependencies.ts';
import { withKnownPin } from './fetch/pin.ts';
import { finalize, notePin, reuse } from './prepare.ts';
import { recordForgery, recordTransition, unpacking } from './status.ts';
import { unpack } from './unpack.ts';

type Step = (
  state: BundleState,
  dependencies: BundleDependencies,
  context: StepContext,
) => Promise<StepOutcome>;

/** Quick steps before unpacking. */
const firstSteps: readonly Step[] = [finalize, notePin, reuse];

/** Maximum number of Bundles in their first steps: at a start there may be thousands. */
const maxFirstSteps = 64;

/** Milliseconds of unpacking before phase Unpacking announces it, so that users see a slow pull. */
const slowUnpack = 2_000;

/**
 * Milliseconds of waiting before it is announced: announcing each of a thousand would make all wait
 * longer.
 */
const longWait = 30_000;

/**
 * Milliseconds before the next step is announced as well, because each announcement is a request.
 */
const longStep = 10_000;

/** Fetches, converts and stores the content of one Bundle. */
export class BundleReconciler {
  readonly #dependencies: BundleDependencies;
  /** Bundles in unpacking, by name. */
  readonly #unpacking = new Map<string, AbortController>();
  readonly #firstSteps = new Semaphore(maxFirstSteps);

  constructor(dependencies: BundleDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Reconciles the Bundle of that name; a rejection requests a retry with back-off. Ignores a
   * Bundle of a class that is not served here, unless no process handles its deletion.
   */
  async reconcile(
    name: string,
    context: StepContext,
  ): Promise<{ requeueAfter: number } | undefined> {
    const { cache, provisioners, unserved } = this.#dependencies;
    const bundle = cache.get({ name });
    if (bundle !== undefined && provisioners.has(bundle.spec.provisionerClassName)) {
      await this.#reconcileServed(bundle, context);
      return undefined;
    }
    if (unserved !== undefined && bundle?.metadata.deletionTimestamp !== undefined) {
      const requeueAfter = unserved.remaining(bundle);
      if (requeueAfter > 0) return { requeueAfter };
      await this.#endUnserved(bundle, context);
      return undefined;
    }
    unserved?.forget(name);
    return undefined;
  }

  /**
   * The processes with stored content delete it after the Bundle is deleted, so nothing else waits
   * for the finalizer.
   */
  async #endUnserved(bundle: Bundle, context: StepContext): Promise<void> {
    const { provisionerClassName } = bundle.spec;
    context.logger.info(
      { provisionerClassName },
      'no process serves the class: finalizer removed from Bundle',
    );
    await finalize({ bundle, status: { ...bundle.status } }, this.#dependencies, context);
  }

  async #reconcileServed(bundle: Bundle, context: StepContext): Promise<void> {
    const { name = '' } = bundle.metadata;
    if (bundle.metadata.deletionTimestamp !== undefined) {
      await this.#reconcile(bundle, context);
      return;
    }
    const abandoned = new AbortController();
    this.#unpacking.set(name, abandoned);
    const signal = AbortSignal.any([context.signal, abandoned.signal]);
    try {
      await this.#reconcile(bundle, { ...context, signal });
    } catch (error) {
      // The deletion causes a separate reconcile.
      if (!abandoned.signal.aborted) throw error;
    } finally {
      this.#unpacking.delete(name);
    }
  }

  /** Stops unpacking a Bundle that is being deleted, because its finalizer waits for that. */
  abandon(name: string): void {
    this.#unpacking.get(name)?.abort(new Error('the Bundle is being deleted'));
  }

  async #reconcile(bundle: Bundle, context: StepContext): Promise<void> {
    const observedGeneration = bundle.metadata.generation ?? 0;
    const known = withKnownPin(bundle, this.#dependencies.sources);
    const state: BundleState = { bundle, status: { ...known, observedGeneration } };
    const settle = this.#announceWhenSlow(state, context);
    try {
      await this.#runSteps(state, context);
    } catch (error) {
      if (context.signal.aborted || isStop(error, context)) throw error;
      await settle();
      await this.#writeStatus(state, context);
      if (!(error instanceof TerminalError)) throw error;
      return;
    } finally {
      await settle();
    }
    if (state.bundle.metadata.deletionTimestamp === undefined) {
      await this.#writeStatus(state, context);
    }
  }

  async #runSteps(state: BundleState, context: StepContext): Promise<void> {
    const first = () => this.#runFirstSteps(state, context);
    if ((await this.#firstSteps.run(first, context.signal)) === 'done') return;
    // Every replica may use an archive by the pin alone: the one of an upload must be known before.
    state.confirm = () => notePin(state, this.#dependencies, context);
    await unpack(state, this.#dependencies, context);
    await notePin(state, this.#dependencies, context);
  }

  async #runFirstSteps(state: BundleState, context: StepContext): Promise<StepOutcome> {
    for (const step of firstSteps) {
      if ((await step(state, this.#dependencies, context)) === 'done') return 'done';
    }
    return 'continue';
  }

  /**
   * The returned function stops the announcement, and awaits a running write: only one writer at a
   * time may write the status.
   */
  #announceWhenSlow(state: BundleState, context: StepContext): () => Promise<void> {
    let writing = Promise.resolve();
    let waited = 0;
    let said: { readonly doing: string; readonly at: number } | undefined;
    const timer = setInterval(() => {
      waited += slowUnpack;
      if (state.slot === undefined && waited < longWait) return;
      const { doing = 'waiting for its turn' } = state;
      if (doing === said?.doing || waited - (said?.at ?? -longStep) < longStep) return;
      said = { doing, at: waited };
      writing = writing.then(() => this.#announce(state, doing, context));
    }, slowUnpack);
    return async () => {
      clearInterval(timer);
      await writing;
    };
  }

  async #announce(state: BundleState, doing: string, context: StepContext): Promise<void> {
    const { clock } = this.#dependencies;
    const { phase = 'Unpacking' } = state.bundle.status ?? {};
    // Offered content stays offered, and the reason of an earlier failure says more.
    if (phase !== 'Unpacking') return;
    if (state.bundle.metadata.deletionTimestamp !== undefined) return;
    const announced = { ...state, status: unpacking(state.status, doing, clock) };
    try {
      await this.#writeStatus(announced, context);
      state.bundle = announced.bundle;
    } catch (error) {
      context.logger.debug({ error: errorMessage(error) }, 'cannot announce the unpacking');
    }
  }

  async #writeStatus(state: BundleState, { signal }: StepContext): Promise<void> {
    const { client, cache, events, sources } = this.#dependencies;
    // Another upload may arrive during unpacking: the content must not be reported for both.
    const ifUnchanged = state.bundle.spec.source.type === 'upload';
    const patch = statusPatch(state.bundle, state.status, { ifUnchanged });
    if (patch === undefined) return;
    const target = { resource: bundleResource, key: { name: state.bundle.metadata.name ?? '' } };
    const options = { type: 'json', subresource: 'status', signal } as const;
    const before = state.bundle;
    const written = await unlessGone(client.patch(target, patch, options));
    if (written === undefined) return;
    state.bundle = written as Bundle;
    cache.upsertIfNewer(state.bundle);
    recordForgery(events, { before, after: state.bundle, sources });
    recordTransition(events, { before, after: state.bundle });
  }
}

/** Whether a Bundle's wait for its unpacking was ended by a stop of the process. */
function isStop(error: unknown, { stopping }: StepContext): boolean {
  return stopping.aborted && error === stopping.reason;
}
