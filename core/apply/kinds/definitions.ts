import { stringAt } from '../../../api/json-fields.ts';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type Discovery,
  type KubeClient,
  type Resource,
  unlessNotFound,
} from '../../platform/kube/index.ts';
import { computeStatus } from '../health/object-health.ts';
import type { ObjectStatus } from '../health/status.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import { type GroupKind, objectID } from '../objects/object-id.ts';

const pollInterval = 50;
/** Milliseconds. Usually a moment; long for a busy API server. */
const establishTimeout = 180_000;

export interface DefinitionsOptions {
  readonly inventory: Inventory;
  readonly discovery: Discovery;
  readonly clock: Clock;
}

/** Waits for CRDs: their objects can be applied only after the server established them. */
export class Definitions {
  readonly #options: DefinitionsOptions;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
  }

  /**
   * Waits until the watch shows all of these CRDs, which are applied, as established; returns those
   * whose names the server refuses.
   * @throws Error after three minutes, or when somebody deletes one of them.
   */
  async established(
    definitions: readonly DesiredObject[],
    signal: AbortSignal,
  ): Promise<readonly ApplyFailure[]> {
    const deadline = this.#options.clock.monotonic() + establishTimeout;
    const failures: ApplyFailure[] = [];
    for (const definition of definitions) {
      const what = nameOf(definition);
      let state = this.#stateOf(definition);
      while (state.status !== 'Current' && state.status !== 'Failed') {
        await this.#pause(deadline, signal, what);
        state = this.#stateOf(definition);
      }
      if (state.status === 'Current') continue;
      const error = new TerminalError(`${what} is not accepted: ${state.message}`);
      failures.push({ object: definition, action: 'create', error });
    }
    return failures;
  }

  /**
   * Resolves once discovery knows all of these kinds.
   * @throws Error after three minutes, or when somebody deletes one of the CRDs.
   */
  async served(
    kinds: readonly Resource[],
    definitions: readonly DesiredObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const { discovery, clock } = this.#options;
    const deadline = clock.monotonic() + establishTimeout;
    discovery.invalidate();
    for (const kind of kinds) {
      while ((await discovery.resourceFor(kind, signal)) === undefined) {
        for (const definition of definitions) this.#stateOf(definition);
        await this.#pause(deadline, signal, `kind ${kind.kind} of ${kind.group}/${kind.version}`);
        discovery.invalidate();
      }
    }
  }

  /** @throws Error when the CRD was deleted since it was applied: only another apply helps. */
  #stateOf(definition: DesiredObject): ObjectStatus {
    const { inventory, clock } = this.#options;
    const entry = inventory.get(definition.resource, definition.key);
    if (entry !== undefined) return computeStatus(entry.object, clock.now());
    throw new Error(
      `${nameOf(definition)} was deleted while core waited for the API server to establish it. Core applies it again`,
    );
  }

  async #pause(deadline: number, signal: AbortSignal, what: string): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonic() >= deadline) {
      throw new Error(
        `${what} is not established after ${establishTimeout / 1000} s: the API server is busy, or its controllers do not run. Core keeps waiting`,
      );
    }
    await clock.sleep(pollInterval, signal);
  }
}

function nameOf({ key }: DesiredObject): string {
  return `CustomResourceDefinition "${key.name}"`;
}

interface CustomResourceQuery {
  readonly client: Pick<KubeClient, 'list'>;
  readonly discovery: Pick<Discovery, 'resourceForGroupKind'>;
  /** IDs of objects to skip. */
  readonly except?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** The kind that a CRD defines. */
export function definedKind({ object: { spec } }: Pick<InventoryEntry, 'object'>): GroupKind {
  return { group: stringAt(spec, 'group') ?? '', kind: stringAt(spec, 'names', 'kind') ?? '' };
}

/**
 * Whether objects of an installed CRD's kind may exist: so it is while the API server does not serve
 * the kind or the version that discovery knows, and keeps stored ones. Requests only metadata, with
 * a limit.
 */
export async function mayHaveCustomResources(
  { group, kind }: GroupKind,
  { client, discovery, except = new Set(), signal }: CustomResourceQuery,
): Promise<boolean> {
  const resource = await discovery.resourceForGroupKind(group, kind, signal);
  if (resource === undefined) return true;
  const isOfKind = (id: string): boolean => id.startsWith(`${group}|${kind}|`);
  const limit = [...except].filter(isOfKind).length + 1;
  const query = { limit, metadataOnly: true, signal };
  const list = await unlessNotFound(client.list(resource, query));
  if (list === undefined) return true;
  return list.items.some(
    ({ metadata }) =>
      !except.has(objectID(resource, { namespace: metadata.namespace, name: metadata.name ?? '' })),
  );
}
