import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { Clock } from '../platform/clock.ts';
import { FairSemaphore, precedence, Semaphore } from '../platform/runtime/index.ts';
import type { SharedFetches } from './shared-fetches.ts';

/** Where Bundles wait for each other. */
interface UnpackPlaces {
  readonly slots: UnpackSlots;
  readonly fetches: SharedFetches;
}

/** The places of one class alone, for its deployments too: none waits for a process meanwhile. */
export interface OwnPlaces extends UnpackPlaces {
  readonly workers: FairSemaphore;
}

/** The places that a class shares with others, but for those that have some of their own. */
export interface ClassPlaces extends UnpackPlaces {
  /** By class name. */
  readonly ownPlaces?: ReadonlyMap<string, OwnPlaces>;
}

export function placesOf({ spec }: Bundle, { ownPlaces, ...shared }: ClassPlaces): UnpackPlaces {
  return ownPlaces?.get(spec.provisionerClassName) ?? shared;
}

interface UnpackSlotsOptions {
  /** Unpackings at work at once. One machine has half of them at most, so that it never has all. */
  readonly slots: number;
  /** Of that size; others may take places of it too. */
  readonly active?: FairSemaphore;
  readonly clock: Clock;
}

/** A fetch that takes longer, in milliseconds, waits for its server more than it works. */
const slowFetch = 2_000;

/** So many slow fetches may wait for their servers for each slot; each may hold content. */
const slowFetchesPerSlot = 8;

/** Who unpacks, and from where. */
interface UnpackClaim {
  readonly creator: string;
  /** Of the machine that the content is fetched from. */
  readonly address: string;
}

/**
 * Bounds the costly part of unpacking: fetch, convert, persist. Memory is bounded by the number of
 * slots; servers that do not answer cost a slot for a moment only, and neither one machine nor one
 * creator has all places.
 */
export class UnpackSlots {
  readonly #active: FairSemaphore;
  readonly #slow: Semaphore;
  /** As many as can be active or slow: what a creator begins can always be lent. */
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
   * @throws the signal's reason where it is aborted before.
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
   * Waits for a slot for content that somebody else has fetched, before those who are yet to fetch.
   * @throws the signal's reason where it is aborted before.
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

/** Content takes memory while it waits. */
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
   * Runs the fetch and leaves its machine. A slow one lends the slot to others, and has one again
   * when its content is there; until then it keeps its place at the machine, as there is content to
   * hold.
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

  /** Ends the unpacking, wherever it is. */
  release(): void {
    this.#giveBack();
    this.#parts.leaveHost();
  }

  /** Gives up a place among the slow where it was taken. */
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
