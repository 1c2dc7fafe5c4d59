import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Discovery } from '../../platform/kube/index.ts';
import type { GroupKind } from '../objects/object-id.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { kindNames } from './earlier-kinds.ts';

/** Milliseconds between two discoveries, for all owners together. */
const pause = 60_000;

interface OptionalKindsOptions {
  readonly discovery: Pick<Discovery, 'invalidate' | 'resourceForGroupKind'>;
  readonly events: EventSink;
  readonly owners: OwnerStates;
  readonly clock: Clock;
  /** Wakes an owner when its kind is served. */
  readonly notify: (owner: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Kinds of optional objects that the cluster does not serve: their owners continue without them and
 * wait for the kinds.
 */
export class OptionalKinds {
  readonly #options: OptionalKindsOptions;
  #looks = false;

  constructor(options: OptionalKindsOptions) {
    this.#options = options;
  }

  /** Replaces the kinds that the owner awaits; records an Event when they differ from before. */
  await(owner: BundleDeployment, kinds: readonly GroupKind[]): void {
    const state = this.#options.owners.of(owner.metadata.name ?? '');
    const before = kindNames(state.optionalKinds);
    state.optionalKinds = kinds;
    if (kinds.length === 0) return;
    void this.#look();
    if (kindNames(kinds) === before) return;
    this.#options.events.event(owner, {
      type: 'Normal',
      reason: 'OptionalKindNotServed',
      message: `The cluster does not serve ${kindNames(kinds)}: until it does, core applies the bundle without these optional objects`,
    });
  }

  /** One loop serves all owners, and ends with the last one. */
  async #look(): Promise<void> {
    if (this.#looks) return;
    this.#looks = true;
    const { clock, signal } = this.#options;
    while (this.#waiting.length > 0 && !signal.aborted) {
      // A failed discovery is repeated; the end of the process ends the loop.
      await clock
        .sleep(pause, signal)
        .then(() => this.#wakeServed())
        .catch(() => undefined);
    }
    this.#looks = false;
  }

  async #wakeServed(): Promise<void> {
    const { discovery, notify, signal } = this.#options;
    // Cached discovery does not change by itself.
    if (this.#waiting.length > 0) discovery.invalidate();
    for (const { name, optionalKinds } of this.#waiting) {
      for (const { group, kind } of optionalKinds) {
        const served = await discovery.resourceForGroupKind(group, kind, signal);
        if (served !== undefined) notify(name);
      }
    }
  }

  get #waiting(): readonly OwnerState[] {
    return [...this.#options.owners].filter(({ optionalKinds }) => optionalKinds.length > 0);
  }
}
