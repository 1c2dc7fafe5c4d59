import {
  type Bucket,
  type Choice,
  type Claim,
  type Entry,
  goesBefore,
  isBefore,
  type Line,
  precedence,
  precedenceOf,
} from './claims.ts';

export interface FairQueueOptions {
  /** Maximum number of concurrent places. */
  readonly places: number;
  /** Number of them reserved for urgent keys (default, and with one place: none). */
  readonly urgentPlaces?: number;
  /** Maximum number of them per address. */
  readonly perAddress?: number;
  /** Whether one creator may take all places; otherwise some stay free for new creators. */
  readonly keepsNone?: boolean;
}

/**
 * Maximum share of one creator in the places that others leave free; it may always have one place.
 */
const largestShare = 3 / 4;

/**
 * After this many turns, the creator that has waited longest is served, regardless of precedence.
 */
const turnsOfPrecedence = 4;

/**
 * Chooses the next item for places that creators share. A creator with its share waits for creators
 * without. Among these the precedence decides, then the fewest places, then the longest wait.
 * Nobody waits for ever.
 */
export class FairQueue<T> {
  readonly #options: Required<FairQueueOptions>;
  readonly #lines = new Map<string, Line<T>>();
  readonly #buckets = new Map<T, Bucket<T>>();
  readonly #held = new Map<T, Claim>();
  readonly #atAddress = new Map<string, number>();
  #heldPatient = 0;
  #arrivals = 0;
  #turns = 0;

  constructor(options: FairQueueOptions) {
    const { places, urgentPlaces = 0 } = options;
    this.#options = {
      perAddress: Number.POSITIVE_INFINITY,
      keepsNone: false,
      ...options,
      urgentPlaces: places > 1 ? urgentPlaces : 0,
    };
  }

  /** Number of waiting items. */
  get length(): number {
    return this.#buckets.size;
  }

  /** Number of creators that hold places or wait for them. */
  get creators(): number {
    return this.#lines.size;
  }

  /** An item that waits already keeps its position, and may get a higher precedence. */
  add(item: T, claim: Claim): void {
    const before = this.#buckets.get(item);
    const wanted = precedenceOf(claim);
    if (before !== undefined && before.precedence <= wanted) return;
    const arrival = before?.items.get(item)?.arrival ?? ++this.#arrivals;
    this.delete(item);
    const line = this.#lineOf(claim.creator);
    const key = `${wanted} ${claim.address ?? ''}`;
    const bucket = line.buckets.get(key) ?? {
      precedence: wanted,
      address: claim.address,
      items: new Map<T, Entry>(),
    };
    line.buckets.set(key, bucket);
    bucket.items.set(item, { claim, arrival });
    this.#buckets.set(item, bucket);
  }

  /** True where it was waiting. */
  delete(item: T): boolean {
    const bucket = this.#buckets.get(item);
    const entry = bucket?.items.get(item);
    if (bucket === undefined || entry === undefined) return false;
    this.#buckets.delete(item);
    bucket.items.delete(item);
    const line = this.#lineOf(entry.claim.creator);
    if (bucket.items.size === 0) {
      line.buckets.delete(`${bucket.precedence} ${bucket.address ?? ''}`);
    }
    this.#forgetIdle(line);
    return true;
  }

  /** The next item, which holds a place until `release`; undefined when none may have one now. */
  next(): T | undefined {
    const { places } = this.#options;
    if (this.#held.size >= places || this.#buckets.size === 0) return undefined;
    const isOldestTurn = this.#turns % turnsOfPrecedence === turnsOfPrecedence - 1;
    const share = Math.ceil(places / this.#lines.size);
    let chosen: Choice<T> | undefined;
    for (const line of this.#lines.values()) {
      const bucket = this.#firstOf(line, isOldestTurn);
      if (bucket === undefined) continue;
      const choice = { line, bucket };
      if (chosen === undefined || goesBefore(choice, chosen, { share, isOldestTurn })) {
        chosen = choice;
      }
    }
    return chosen === undefined ? undefined : this.#take(chosen);
  }

  /** Frees the item's place; does nothing when it holds none. */
  release(item: T): void {
    const claim = this.#held.get(item);
    if (claim === undefined) return;
    this.#held.delete(item);
    const line = this.#lineOf(claim.creator);
    this.#count(line, claim, -1);
    this.#forgetIdle(line);
  }

  #take({ line, bucket }: Choice<T>): T | undefined {
    const [first] = bucket.items;
    if (first === undefined) return undefined;
    const [item, { claim }] = first;
    this.#turns += 1;
    line.servedAt = this.#turns;
    this.#count(line, claim, 1);
    this.delete(item);
    this.#held.set(item, claim);
    return item;
  }

  #count(line: Line<T>, claim: Claim, change: 1 | -1): void {
    const { address } = claim;
    line.held += change;
    if (precedenceOf(claim) === precedence.urgent) line.heldUrgent += change;
    else this.#heldPatient += change;
    if (address === undefined) return;
    const now = (this.#atAddress.get(address) ?? 0) + change;
    if (now === 0) this.#atAddress.delete(address);
    else this.#atAddress.set(address, now);
  }

  /** The creator's first item that may run now; with `oldest`, the longest waiting one. */
  #firstOf(line: Line<T>, oldest: boolean): Bucket<T> | undefined {
    let first: Bucket<T> | undefined;
    for (const bucket of line.buckets.values()) {
      if (!this.#mayHoldMore(line, bucket) || !this.#hasRoom(bucket)) continue;
      if (first === undefined || isBefore(bucket, first, oldest)) first = bucket;
    }
    return first;
  }

  /** Urgent items never wait for their creator's own first installs. */
  #mayHoldMore(line: Line<T>, bucket: Bucket<T>): boolean {
    const { places, keepsNone } = this.#options;
    const held = bucket.precedence === precedence.urgent ? line.heldUrgent : line.held;
    if (held === 0 || keepsNone || places === Number.POSITIVE_INFINITY) return true;
    const free = places - this.#held.size;
    return held + 1 <= largestShare * (held + free);
  }

  #hasRoom({ precedence: wanted, address }: Bucket<T>): boolean {
    const { places, urgentPlaces, perAddress } = this.#options;
    if (wanted !== precedence.urgent && this.#heldPatient >= places - urgentPlaces) return false;
    return address === undefined || (this.#atAddress.get(address) ?? 0) < perAddress;
  }

  #lineOf(creator: string): Line<T> {
    const line = this.#lines.get(creator) ?? {
      creator,
      buckets: new Map<string, Bucket<T>>(),
      held: 0,
      heldUrgent: 0,
      servedAt: this.#turns,
    };
    this.#lines.set(creator, line);
    return line;
  }

  #forgetIdle({ creator, held, buckets }: Line<T>): void {
    if (held === 0 && buckets.size === 0) this.#lines.delete(creator);
  }
}
