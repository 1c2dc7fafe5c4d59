import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BoundedMap } from '../bounded-map.ts';
import { type Clock, systemClock } from '../clock.ts';
import { precedence } from '../runtime/queue/claims.ts';
import { FairSemaphore } from '../runtime/queue/semaphore.ts';
import { SharedWork } from '../shared-work.ts';

type Resolve = (name: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

interface NameLookupsOptions {
  /** Maximum number of concurrent lookups. */
  readonly places: number;
  readonly resolve?: Resolve;
  readonly clock?: Clock;
}

/** Milliseconds until a lookup fails, before the connection that waits for it does. */
const patience = 9_000;
/** Milliseconds: a name that resolves more slowly counts as slow. */
const quick = 1_000;
const rememberedNames = 1_000;

/**
 * Resolves names with the system's resolver, which blocks a thread of this process for each name
 * until the name server answers. Domains take turns, and one place is reserved for names that
 * resolved quickly before: whoever owns a domain can have its name server not answer, and users name
 * any number of hosts in it.
 */
export class NameLookups {
  readonly #places: FairSemaphore;
  readonly #resolve: Resolve;
  readonly #clock: Clock;
  readonly #running = new SharedWork<readonly LookupAddress[]>();
  /** Names that resolved quickly the last time. */
  readonly #quick = new BoundedMap<string, true>(rememberedNames);

  constructor({ places, resolve = resolveAll, clock = systemClock }: NameLookupsOptions) {
    this.#places = new FairSemaphore({ places, urgentPlaces: 1 });
    this.#resolve = resolve;
    this.#clock = clock;
  }

  /**
   * All addresses of a name; concurrent callers share one lookup.
   * @throws Error with the resolver's code; EAI_AGAIN when it takes too long
   */
  async addresses(name: string, options: LookupOptions): Promise<readonly LookupAddress[]> {
    const { family, hints, order } = options;
    const key = JSON.stringify([name, family, hints, order]);
    const late = new AbortController();
    const ended = new AbortController();
    const giveUp = (): void => late.abort(tooSlow(name));
    this.#clock.sleep(patience, ended.signal).then(giveUp, () => undefined);
    const find = (signal: AbortSignal) => this.#find(name, options, signal);
    try {
      return await this.#running.run(key, find, late.signal);
    } finally {
      ended.abort();
    }
  }

  async #find(
    name: string,
    options: LookupOptions,
    signal: AbortSignal,
  ): Promise<readonly LookupAddress[]> {
    const isQuick = this.#quick.get(name) === true;
    const claim = isQuick ? precedence.urgent : precedence.ready;
    const leave = await this.#places.take({ creator: domainOf(name), precedence: claim }, signal);
    this.#quick.delete(name);
    const startedAt = this.#clock.monotonic();
    try {
      const found = await this.#resolve(name, options);
      if (this.#clock.monotonic() - startedAt < quick) this.#quick.set(name, true);
      return found;
    } finally {
      // Not earlier, whoever still waits: the thread is blocked until then.
      leave();
    }
  }
}

async function resolveAll(name: string, options: LookupOptions): Promise<readonly LookupAddress[]> {
  return await lookup(name, { ...options, all: true });
}

/** The last two labels: whoever owns a domain has any number of names below it. */
function domainOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '').split('.').slice(-2).join('.');
}

function tooSlow(hostname: string): Error {
  const problem = { code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname };
  return Object.assign(new Error(`getaddrinfo EAI_AGAIN ${hostname}`), problem);
}

const usualThreads = 4;

/**
 * Places for lookups of hosts that users name, in a process with so many threads (UV_THREADPOOL_SIZE):
 * libuv gives half of them to lookups, and one is for the API server and other hosts of the admin. At
 * least two, so that one can be reserved.
 */
export function lookupPlaces(threads = Number(process.env['UV_THREADPOOL_SIZE'])): number {
  const actual = threads > 0 ? Math.floor(threads) : usualThreads;
  return Math.max(2, Math.floor((actual + 1) / 2) - 1);
}
