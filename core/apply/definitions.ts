import type { Clock } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { Discovery } from '../kube/discovery.ts';
import type { Resource } from '../kube/resource.ts';
import type { DesiredObject } from './desired.ts';
import { computeStatus } from './health/compute-status.ts';
import type { Inventory } from './inventory.ts';

const pollInterval = 50;
const establishTimeout = 30_000;

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
   * Resolves once the watch shows all of these CRDs as established.
   * @throws TerminalError where the server refuses a CRD's names, Error after 30 seconds.
   */
  async established(definitions: readonly DesiredObject[], signal: AbortSignal): Promise<void> {
    const deadline = this.#options.clock.now() + establishTimeout;
    for (const definition of definitions) {
      while (!this.#isEstablished(definition)) {
        await this.#pause(deadline, signal, `CustomResourceDefinition "${definition.key.name}"`);
      }
    }
  }

  /** Resolves once discovery knows all of these kinds. */
  async served(kinds: readonly Resource[], signal: AbortSignal): Promise<void> {
    const { discovery, clock } = this.#options;
    const deadline = clock.now() + establishTimeout;
    discovery.invalidate();
    for (const kind of kinds) {
      while ((await discovery.resourceFor(kind, signal)) === undefined) {
        await this.#pause(deadline, signal, `kind ${kind.kind} of ${kind.group}/${kind.version}`);
        discovery.invalidate();
      }
    }
  }

  #isEstablished({ resource, key }: DesiredObject): boolean {
    const entry = this.#options.inventory.get(resource, key);
    if (entry === undefined) return false;
    const { status, message } = computeStatus(entry.object, this.#options.clock.now());
    if (status !== 'Failed') return status === 'Current';
    throw new TerminalError(`CustomResourceDefinition "${key.name}" is not accepted: ${message}`);
  }

  async #pause(deadline: number, signal: AbortSignal, what: string): Promise<void> {
    const { clock } = this.#options;
    if (clock.now() >= deadline) {
      throw new Error(`${what} was not established within ${establishTimeout / 1000} s`);
    }
    await clock.sleep(pollInterval, signal);
  }
}
