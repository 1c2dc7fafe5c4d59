import { Resolver } from 'node:dns/promises';
import { isIP, isIPv4 } from 'node:net';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';

interface HostAddressesOptions {
  readonly clock: Clock;
  /** Returns all addresses of a name. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

interface Known {
  readonly address: Promise<string>;
  readonly until: number;
}

/** Milliseconds for which a resolved name is cached. */
const remembered = 60_000;
const mostNames = 1_000;
/** Milliseconds: a name that resolves more slowly stands for itself. */
const lookupTime = 1_000;

/**
 * Finds the machine behind a server's name, so that many names and ports of one machine count as
 * one.
 */
export class HostAddresses {
  readonly #clock: Clock;
  readonly #resolve: (name: string) => Promise<readonly string[]>;
  readonly #known = new BoundedMap<string, Known>(mostNames);

  constructor({ clock, resolve = resolveName }: HostAddressesOptions) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /**
   * The address of a name or address without a port: always the same one of several; for IPv6 the
   * /64 network, which belongs to one machine. The name itself when it cannot be resolved.
   */
  async of(host: string): Promise<string> {
    const name = host.replace(/^\[|\]$/g, '').toLowerCase();
    if (isIP(name) !== 0) return machineOf(name);
    const known = this.#known.get(name);
    if (known !== undefined && known.until > this.#clock.monotonic()) return await known.address;
    const address = this.#find(name);
    this.#known.set(name, { address, until: this.#clock.monotonic() + remembered });
    return await address;
  }

  async #find(name: string): Promise<string> {
    try {
      const [first = name] = (await this.#resolve(name)).map(machineOf).toSorted();
      return first;
    } catch {
      return name;
    }
  }
}

/** Avoids the system's resolver, whose four threads are needed for files. */
async function resolveName(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: lookupTime, tries: 1 });
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

/** An IPv4 address, or the first 64 bits of an IPv6 one. */
function machineOf(address: string): string {
  if (isIPv4(address)) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped)
    return `${groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(':')}::/64`;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The URL parser normalizes the forms of an address; it does not accept zones.
  const canonical = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  if (tail === undefined) return numbersOf(head);
  const [first, last] = [numbersOf(head), numbersOf(tail)];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function numbersOf(groups: string): readonly number[] {
  return groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16));
}

/**
 * Whether a text matches a pattern of `*` and `?`. Backtracks only to the last `*`, so that no
 * pattern is slow.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let position = 0;
  let star: { readonly after: number; covers: number } | undefined;
  for (let index = 0; index < text.length; ) {
    const char = pattern[position];
    if (char === '*') {
      position += 1;
      star = { after: position, covers: index };
    } else if (char === '?' || char === text[index]) {
      position += 1;
      index += 1;
    } else if (star !== undefined) {
      star.covers += 1;
      position = star.after;
      index = star.covers;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(position));
}
