import type { LookupOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { lookupPlaces, NameLookups } from './name-lookups.ts';

/** Addresses that connections may use; plain data, so that other processes can receive it. */
export interface AddressPolicy {
  /** Ranges (CIDR or address) that are denied in addition to non-public ones. */
  readonly deny?: readonly string[] | undefined;
  /** Ranges that are always allowed. */
  readonly allow?: readonly string[] | undefined;
}

/** All addresses of the host are in denied ranges. */
class DeniedAddressError extends Error {
  override readonly name = 'DeniedAddressError';

  /** The message hides the address: a user who names the host may not be allowed to learn it. */
  constructor(host: string) {
    super(
      `"${host}" has a private, loopback or other denied address, which core does not connect to for sources: an admin can allow it with --allow-source-address`,
    );
  }
}

/** Checks addresses, not names, because a name may resolve to another address each time. */
export interface AddressGuard {
  /** @throws DeniedAddressError when the host is a denied address; accepts names */
  checkHost(host: string): void;
  /** Resolves names for a connection, and returns only allowed addresses. */
  readonly lookup: LookupFunction;
}

/** IANA's special-purpose ranges and multicast, including private networks. */
const specialV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;
const specialV6 = [
  '::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;
/**
 * Addresses that embed an IPv4 address (RFC 6052): in a network without IPv4, the whole internet.
 */
const nat64 = { prefix: '64:ff9b::', bits: 96 } as const;

/** Of all sources of this process, because they share its threads. */
const usualLookups = new NameLookups({ places: lookupPlaces() });

/** @throws Error for an invalid range */
export function createAddressGuard(
  { deny = [], allow = [] }: AddressPolicy,
  lookups: Pick<NameLookups, 'addresses'> = usualLookups,
): AddressGuard {
  const denied = blockList([...specialV4, ...specialV6, ...deny]);
  const allowed = blockList(allow);
  const isDenied = (address: string): boolean => {
    const plain = address.replace(/%.*$/, '');
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
    return denied.check(plain, family) && !allowed.check(plain, family);
  };
  const find = callbackify(async (hostname: string, options: LookupOptions) => {
    const found = await lookups.addresses(hostname, options);
    return found.filter(({ address }) => !isDenied(address));
  });
  return {
    checkHost(host) {
      const address = host.replace(/^\[(.*)\]$/, '$1');
      if (isIP(address) !== 0 && isDenied(address)) throw new DeniedAddressError(host);
    },
    lookup: (hostname, options, callback) => {
      find(hostname, options, (error, addresses) => {
        const [first] = addresses ?? [];
        if (first === undefined) callback(error ?? new DeniedAddressError(hostname), []);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      });
    },
  };
}

/** The problem of a text as an address range; undefined when it is valid. */
export function rangeProblem(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isRange = bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= max);
  if (max >= 0 && isRange && rest.length === 0) return undefined;
  return `"${text}" is neither an IP address nor a range such as 10.0.0.0/8`;
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const problem = rangeProblem(range);
    if (problem !== undefined) throw new Error(problem);
    const [address = '', bits] = range.split('/');
    const isV4 = isIP(address) === 4;
    const length = bits === undefined ? (isV4 ? 32 : 128) : Number(bits);
    list.addSubnet(address, length, isV4 ? 'ipv4' : 'ipv6');
    if (isV4) list.addSubnet(nat64.prefix + address, nat64.bits + length, 'ipv6');
  }
  return list;
}
