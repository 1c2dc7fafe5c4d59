import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Discovery, Resource } from '../../platform/kube/index.ts';
import { computeStatus } from '../health/compute-status.ts';
import type { ObjectStatus } from '../health/status.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { ApplyFailure } from '../objects/failures.ts';

const pollInterval = 50;
/** A moment, but for an API server with much to do; milliseconds. */
const establishTimeout = 180_000;

export interface DefinitionsOptions {
  readonly inventory: Inventory;
  readonly discovery: Discovery;
  readonly clock: Clock;
}

/** Waits for CRDs: their objects can be applied only after the server took them up. */
export class Definitions {
  readonly #options: DefinitionsOptions;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
  }

  /**
   * Waits until the watch shows all of these CRDs as established; returns those whose names the
   * server does not accept.
   * @throws Error after three minutes.
   */
  async established(
    definitions: readonly DesiredObject[],
    signal: AbortSignal,
  ): Promise<readonly ApplyFailure[]> {
    const deadline = this.#options.clock.monotonic() + establishTimeout;
    const failures: ApplyFailure[] = [];
    for (const definition of definitions) {
      const what = `CustomResourceDefinition "${definition.key.name}"`;
      let state = this.#stateOf(definition);
      while (state?.status !== 'Current' && state?.status !== 'Failed') {
        await this.#pause(deadline, signal, what);
        state = this.#stateOf(definition);
      }
      if (state.status === 'Current') continue;
      const error = new TerminalError(`${what} is not accepted: ${state.message}`);
      failures.push({ object: definition, action: 'create', error });
    }
    return failures;
  }

  /** Resolves once discovery knows all of these kinds. */
  async served(kinds: readonly Resource[], signal: AbortSignal): Promise<void> {
    const { discovery, clock } = this.#options;
    const deadline = clock.monotonic() + establishTimeout;
    discovery.invalidate();
    for (const kind of kinds) {
      while ((await discovery.resourceFor(kind, signal)) === undefined) {
        await this.#pause(deadline, signal, `kind ${kind.kind} of ${kind.group}/${kind.version}`);
        discovery.invalidate();
      }
    }
  }

  #stateOf({ resource, key }: DesiredObject): ObjectStatus | undefined {
    const entry = this.#options.inventory.get(resource, key);
    return entry && computeStatus(entry.object, this.#options.clock.now());
  }

  async #pause(deadline: number, signal: AbortSignal, what: string): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonic() >= deadline) {
      throw new Error(
        `${what} is not established after ${establishTimeout / 1000} s: the API server has much to do, or does not run its controllers. Core goes on waiting`,
      );
    }
    await clock.sleep(pollInterval, signal);
  }
}
