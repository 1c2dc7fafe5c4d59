import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Which addresses may be connected to; plain data, to be handed on. */
export interface AddressPolicy {
  /** Ranges (CIDR or address) that are denied besides those of no public host. */
  readonly deny?: readonly string[] | undefined;
  /** Ranges that are allowed, whatever denies them. */
  readonly allow?: readonly string[] | undefined;
}

/** The host has addresses of denied ranges only. */
class DeniedAddressError extends Error {
  override readonly name = 'DeniedAddressError';

  /** Does not tell the address: who names the host may not know it. */
  constructor(host: string) {
    super(
      `"${host}" has a private, loopback or other denied address, which core does not connect to for sources: an admin can allow it with --allow-source-address`,
    );
  }
}

/** Decides about addresses, not names: a name may have another address at every look. */
export interface AddressGuard {
  /** @throws DeniedAddressError where the host is an address that is denied; names are let through */
  checkHost(host: string): void;
  /** Resolves names for a connection, to the allowed addresses alone. */
  readonly lookup: LookupFunction;
}

/** IANA's ranges of no public host, and multicast; those of private networks among them. */
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
/** Translates to the IPv4 address that ends it (RFC 6052): all of the internet, where there is no IPv4. */
const nat64 = { prefix: '64:ff9b::', bits: 96 } as const;

/** @throws Error for a range that is none */
export function createAddressGuard({ deny = [], allow = [] }: AddressPolicy): AddressGuard {
  const denied = blockList([...specialV4, ...specialV6, ...deny]);
  const allowed = blockList(allow);
  const isDenied = (address: string): boolean => {
    const plain = address.replace(/%.*$/, '');
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
    return denied.check(plain, family) && !allowed.check(plain, family);
  };
  return {
    checkHost(host) {
      const address = host.replace(/^\[(.*)\]$/, '$1');
      if (isIP(address) !== 0 && isDenied(address)) throw new DeniedAddressError(host);
    },
    lookup: (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, found) => {
        const addresses = error === null ? found.filter(({ address }) => !isDenied(address)) : [];
        const [first] = addresses;
        if (error !== null) callback(error, []);
        else if (first === undefined) callback(new DeniedAddressError(hostname), []);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    },
  };
}

/** Why a text is no range of addresses; undefined where it is one. */
export function rangeProblem(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isRange = bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= max);
  if (max >= 0 && isRange && rest.length === 0) return undefined;
  return `"${text}" is no IP address and no range such as 10.0.0.0/8`;
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
