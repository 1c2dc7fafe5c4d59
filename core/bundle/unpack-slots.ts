import type { Clock } from '../clock.ts';
import { Semaphore } from '../runtime/semaphore.ts';
import { HostLimiter } from './host-limiter.ts';

export interface UnpackSlotsOptions {
  /** Unpackings at work at once. One host has half of them at most, so that it never has all. */
  readonly slots: number;
  /** Of that size; others may take places of it too. */
  readonly active?: Semaphore;
  readonly clock: Clock;
}

/** A fetch that takes longer, in milliseconds, waits for its server more than it works. */
const slowFetch = 2_000;

/** So many slow fetches may wait for their servers for each slot; each may hold content. */
const slowFetchesPerSlot = 8;

/**
 * Bounds the costly part of unpacking: fetch, convert, persist. Memory is bounded by the number of
 * slots; hosts that do not answer cost a slot for a moment only.
 */
export class UnpackSlots {
  readonly #active: Semaphore;
  readonly #slow: Semaphore;
  readonly #hosts: HostLimiter;
  readonly #clock: Clock;

  constructor({ slots, clock, active = new Semaphore(slots) }: UnpackSlotsOptions) {
    this.#active = active;
    this.#slow = new Semaphore(slots * slowFetchesPerSlot);
    this.#hosts = new HostLimiter(Math.ceil(slots / 2));
    this.#clock = clock;
  }

  /**
   * Waits for a place at the host, then for a slot, in the order in which others came.
   * @throws the signal's reason where it is aborted before.
   */
  async take(host: string, signal: AbortSignal): Promise<UnpackSlot> {
    const leaveHost = await this.#hosts.take(host, signal);
    try {
      const giveBack = await this.#active.take(signal);
      return this.#slot(giveBack, leaveHost);
    } catch (error) {
      leaveHost();
      throw error;
    }
  }

  /**
   * Waits for a slot for content that somebody else has fetched, before those who are yet to fetch.
   * @throws the signal's reason where it is aborted before.
   */
  async takeWithContent(signal: AbortSignal): Promise<UnpackSlot> {
    return this.#slot(await this.#active.take(signal, { urgent: true }), atNoHost);
  }

  #slot(giveBack: () => void, leaveHost: () => void): UnpackSlot {
    const parts = { active: this.#active, slow: this.#slow, clock: this.#clock };
    return new UnpackSlot({ ...parts, leaveHost, giveBack });
  }
}

const atNoHost = (): void => undefined;

interface UnpackSlotParts {
  readonly active: Semaphore;
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
   * Runs the fetch and leaves its host. A slow one lends the slot to others, and has one again when
   * its content is there; until then it keeps its place at the host, as there is content to hold.
   */
  async fetch<T>(fetch: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const ended = new AbortController();
    const lent = this.#lendWhenSlow(ended.signal);
    try {
      const content = await fetch();
      ended.abort();
      if ((await lent) !== undefined) {
        this.#giveBack = await this.#parts.active.take(signal, { urgent: true });
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
