import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { Clock } from '../../platform/clock.ts';
import { FairSemaphore, precedence, Semaphore } from '../../platform/runtime/index.ts';
import type { SharedFetches } from './shared-fetches.ts';

/** Limits for concurrent Bundles. */
interface UnpackPlaces {
  readonly slots: UnpackSlots;
  readonly fetches: SharedFetches;
}

/**
 * Separate places of one class, also for its deployments, so that none waits for a process while it
 * has a place.
 */
export interface OwnPlaces extends UnpackPlaces {
  readonly workers: FairSemaphore;
}

/** Places that classes without separate ones share. */
export interface ClassPlaces extends UnpackPlaces {
  /** By class name. */
  readonly ownPlaces?: ReadonlyMap<string, OwnPlaces>;
}

export function placesOf({ spec }: Bundle, { ownPlaces, ...shared }: ClassPlaces): UnpackPlaces {
  return ownPlaces?.get(spec.provisionerClassName) ?? shared;
}

interface UnpackSlotsOptions {
  /** Maximum number of active unpackings. One machine may have at most half of them. */
  readonly slots: number;
  /** Semaphore of that size, which others may use too. */
  readonly active?: FairSemaphore;
  readonly clock: Clock;
}

/** Milliseconds: a longer fetch mostly waits for its server. */
const slowFetch = 2_000;

/** Maximum number of slow fetches per slot; each may occupy memory. */
const slowFetchesPerSlot = 8;

/** Who unpacks, and from where. */
interface UnpackClaim {
  readonly creator: string;
  /** Address of the machine with the content. */
  readonly address: string;
}

/**
 * Limits the expensive part of unpacking: fetch, convert, persist. The number of slots limits
 * memory; an unresponsive server occupies a slot only for a moment, and neither one machine nor one
 * creator can take all places.
 */
export class UnpackSlots {
  readonly #active: FairSemaphore;
  readonly #slow: Semaphore;
  /** As many as can be active or slow, so that every started fetch can lend its slot. */
  readonly #fetches: FairSemaphore;
  readonly #clock: Clock;

  constructor({ slots, clock, active }: UnpackSlotsOptions) {
    this.#active = active ?? new FairSemaphore({ places: slots });
    this.#slow = new Semaphore(slots * slowFetchesPerSlot);
    const perAddress = Math.ceil(slots / 2);
    this.#fetches = new FairSemaphore({ places: slots * (1 + slowFetchesPerSlot), perAddress });
    this.#clock = clock;
  }

  /**
   * Waits for a place at the machine, then for a slot; creators take turns.
   * @throws the signal's reason when it is aborted first.
   */
  async take(claim: UnpackClaim, signal: AbortSignal): Promise<UnpackSlot> {
    const leaveHost = await this.#fetches.take(claim, signal);
    const { creator } = claim;
    try {
      const giveBack = await this.#active.take({ creator }, signal);
      return this.#slot({ creator, giveBack, leaveHost });
    } catch (error) {
      leaveHost();
      throw error;
    }
  }

  /**
   * Waits for a slot for content that is already fetched, with priority over those that must fetch.
   * @throws the signal's reason when it is aborted first.
   */
  async takeWithContent(creator: string, signal: AbortSignal): Promise<UnpackSlot> {
    const giveBack = await this.#active.take(withContent(creator), signal);
    return this.#slot({ creator, giveBack, leaveHost: atNoHost });
  }

  #slot(taken: Pick<UnpackSlotParts, 'creator' | 'giveBack' | 'leaveHost'>): UnpackSlot {
    return new UnpackSlot({
      active: this.#active,
      slow: this.#slow,
      clock: this.#clock,
      ...taken,
    });
  }
}

const atNoHost = (): void => undefined;

/** Content occupies memory while it waits. */
function withContent(creator: string) {
  return { creator, precedence: precedence.urgent };
}

interface UnpackSlotParts {
  readonly creator: string;
  readonly active: FairSemaphore;
  readonly slow: Semaphore;
  readonly clock: Clock;
  readonly leaveHost: () => void;
  readonly giveBack: () => void;
}

/** The right to unpack one Bundle. */
export class UnpackSlot {
  readonly #parts: UnpackSlotParts;
  #giveBack: () => void;

  constructor(parts: UnpackSlotParts) {
    this.#parts = parts;
    this.#giveBack = parts.giveBack;
  }

  /**
   * Runs the fetch and then frees the place at its machine. A slow fetch lends its slot to others,
   * and takes one again when its content has arrived; until then it keeps its place at the machine,
   * because it may occupy memory.
   */
  async fetch<T>(fetch: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const ended = new AbortController();
    const lent = this.#lendWhenSlow(ended.signal);
    try {
      const content = await fetch();
      ended.abort();
      if ((await lent) !== undefined) {
        const { active, creator } = this.#parts;
        this.#giveBack = await active.take(withContent(creator), signal);
      }
      return content;
    } finally {
      ended.abort();
      (await lent)?.();
      this.#parts.leaveHost();
    }
  }

  /** Ends the unpacking in any state. */
  release(): void {
    this.#giveBack();
    this.#parts.leaveHost();
  }

  /** Frees the place among slow fetches if it was taken. */
  async #lendWhenSlow(ended: AbortSignal): Promise<(() => void) | undefined> {
    const { slow, clock } = this.#parts;
    try {
      await clock.sleep(slowFetch, ended);
      const leave = await slow.take(ended);
      this.#giveBack();
      return leave;
    } catch {
      return undefined;
    }
  }
}
