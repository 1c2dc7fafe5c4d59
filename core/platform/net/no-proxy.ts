import { BlockList, isIP } from 'node:net';
import { isThisMachine } from './this-machine.ts';

type Matcher = (host: Host) => boolean;

interface Host {
  /** In lower case, an IPv6 address without brackets. */
  readonly name: string;
  /** 0 for a name, else 4 or 6. */
  readonly family: number;
  readonly port: string;
}

/**
 * Whether an address is to be spoken to without a proxy: this machine always, else what NO_PROXY
 * lists: `*`, IP addresses and CIDRs, `example.com` (and all below it), `.example.com` and
 * `*.example.com` (all below it alone), each of them but CIDRs with a port where it is meant alone.
 */
export function noProxyMatcher(list: string): (address: URL) => boolean {
  const entries = list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
  if (entries.includes('*')) return () => true;
  const matchers = entries.map(matcherOf);
  return (address) => {
    const host = hostOf(address);
    return isThisMachine(address) || matchers.some((matches) => matches(host));
  };
}

function hostOf({ hostname, port, protocol }: URL): Host {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const usual = protocol === 'https:' ? '443' : '80';
  return { name, family: isIP(name), port: port === '' ? usual : port };
}

function matcherOf(entry: string): Matcher {
  const [, network, bits] = /^([0-9a-f.:]+)\/([0-9]{1,3})$/.exec(entry) ?? [];
  if (network !== undefined && bits !== undefined) return networkMatcher(network, Number(bits));
  const [, wanted = entry, port] = /^(\[[^\]]*\]|[^:]*):([0-9]+)$/.exec(entry) ?? [];
  const name = wanted.replace(/^\[|\]$/g, '');
  const matches = isIP(name) === 0 ? domainMatcher(name) : addressMatcher(name);
  return (host) => (port === undefined || port === host.port) && matches(host);
}

function networkMatcher(network: string, bits: number): Matcher {
  const family = isIP(network);
  if (family === 0 || bits > (family === 4 ? 32 : 128)) return () => false;
  const list = new BlockList();
  list.addSubnet(network, bits, family === 4 ? 'ipv4' : 'ipv6');
  return (host) => isListed(list, host.name, host.family);
}

function addressMatcher(address: string): Matcher {
  const list = new BlockList();
  list.addAddress(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return (host) => isListed(list, host.name, host.family);
}

function domainMatcher(name: string): Matcher {
  if (name === '') return () => false;
  const below = name.startsWith('*.') ? name.slice(1) : name;
  if (below.startsWith('.')) return (host) => host.name.endsWith(below);
  return (host) => host.name === below || host.name.endsWith(`.${below}`);
}

function isListed(list: BlockList, address: string, family: number): boolean {
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
