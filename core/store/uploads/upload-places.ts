import type { Clock } from '../../platform/clock.ts';
import { Shares } from '../../platform/shares.ts';
import { UploadRefusal } from './receive-upload.ts';

/**
 * Maximum running uploads of one creator, and of all: their bodies together must fit onto the disk,
 * and with a store in the cluster into etcd.
 */
const maxOfCreator = 4;
const maxRunning = 16;

/**
 * Minimum bytes per second of an upload, for each place by which its creator has more than the one who
 * needs a place: a few who send slowly would keep all others out.
 */
const leastRate = 32 * 1024;
/** Milliseconds in which a connection reaches its speed. */
const startTime = 10_000;

/** A running upload, until it is disposed. */
export class UploadPlace implements Disposable {
  readonly creator: string;
  readonly #free: () => void;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ended = new AbortController();
  readonly #freed = Promise.withResolvers<void>();
  /** While the body arrives. */
  #since: number | undefined;
  #bytes = 0;

  constructor(creator: string, clock: Pick<Clock, 'monotonic'>, free: () => void) {
    this.creator = creator;
    this.#clock = clock;
    this.#free = free;
  }

  /** Aborted with an UploadRefusal when another user gets the place. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The client is asked for the body. */
  begin(): void {
    this.#since = this.#clock.monotonic();
  }

  /** So many more bytes of the body have arrived. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The body is complete. */
  end(): void {
    this.#since = undefined;
  }

  /** Bytes per second; undefined when the client does not decide about the time that is left. */
  get rate(): number | undefined {
    if (this.#since === undefined || this.signal.aborted) return undefined;
    const passed = this.#clock.monotonic() - this.#since;
    return passed < startTime ? undefined : this.#bytes / (passed / 1000);
  }

  /** Resolves when it is disposed. */
  async giveUp(reason: UploadRefusal): Promise<void> {
    this.#ended.abort(reason);
    await this.#freed.promise;
  }

  [Symbol.dispose](): void {
    this.#free();
    this.#freed.resolve();
  }
}

/** Divides the places for uploads among creators. */
export class UploadPlaces {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #shares = new Shares({ each: maxOfCreator, total: maxRunning });
  readonly #running = new Set<UploadPlace>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * A place for an upload: when all are taken, that of the slowest upload of a creator with more.
   * @throws UploadRefusal when there is none
   */
  async take(creator: string): Promise<UploadPlace> {
    const refused = this.#shares.take(creator);
    if (refused === undefined) return this.#add(creator);
    if (refused === 'each') {
      throw new UploadRefusal(
        429,
        `${creator} uploads ${maxOfCreator} Bundles at the same time already: wait until one of them has ended`,
      );
    }
    await this.#end(creator);
    if (this.#shares.take(creator) === undefined) return this.#add(creator);
    throw new UploadRefusal(
      503,
      `${maxRunning} Bundles are being uploaded at the same time already: try again`,
    );
  }

  #add(creator: string): UploadPlace {
    const place: UploadPlace = new UploadPlace(creator, this.#clock, () => {
      if (this.#running.delete(place)) this.#shares.giveBack(creator);
    });
    this.#running.add(place);
    return place;
  }

  /** Ends the upload that is the slowest for the places of its creator, if one is too slow. */
  async #end(creator: string): Promise<void> {
    const own = this.#held(creator);
    let slowest: { readonly place: UploadPlace; readonly part: number } | undefined;
    for (const place of this.#running) {
      const more = this.#held(place.creator) - own;
      // Two creators would take a single place from each other in turns.
      if (place.rate === undefined || more <= Math.min(own, 1)) continue;
      const part = Math.max(place.rate, 1) / (leastRate * more);
      if (part < (slowest?.part ?? 1)) slowest = { place, part };
    }
    await slowest?.place.giveUp(this.#refusal(slowest.place.creator, own));
  }

  #held(creator: string): number {
    let held = 0;
    for (const place of this.#running) if (place.creator === creator) held += 1;
    return held;
  }

  #refusal(creator: string, fewer: number): UploadRefusal {
    const held = this.#held(creator);
    const least = (leastRate / 1024) * (held - fewer);
    return new UploadRefusal(
      503,
      `all ${maxRunning} places for uploads are taken, ${held} of them by ${creator}: this upload brought less than ${least} KiB/s, and made place for one of another user. Repeat it over a faster connection, or when fewer uploads run`,
    );
  }
}
