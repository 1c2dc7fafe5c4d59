import { BlockList, isIP } from 'node:net';

/**
 * Proxies, as in the environment variables of the same names; plain data, so that other processes
 * can receive it.
 */
export interface ProxyConfig {
  /** For http:// addresses. */
  readonly httpProxy?: string;
  /** For https:// addresses. */
  readonly httpsProxy?: string;
  /** Hosts to connect to without a proxy. */
  readonly noProxy?: string;
}

/** The proxy for an address; undefined for none. It may contain credentials. */
export type ProxyChooser = (address: URL) => URL | undefined;

/**
 * Chooses as Go's httpproxy does, so that one setting works for all programs of a cluster.
 * @throws Error for an invalid proxy, without quoting it, because it may contain a password
 */
export function createProxyChooser(config: ProxyConfig = {}): ProxyChooser {
  const http = proxyAddress(config.httpProxy, 'HTTP_PROXY');
  const https = proxyAddress(config.httpsProxy, 'HTTPS_PROXY');
  const isDirect = noProxyMatcher(config.noProxy ?? '');
  return (address) => {
    const proxy = address.protocol === 'https:' ? https : http;
    return proxy === undefined || isDirect(address) ? undefined : proxy;
  };
}

function proxyAddress(text: string | undefined, variable: string): URL | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  // URL reads `proxy:3128` as a scheme; other programs read it as a host.
  const address = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (address === null || address.hostname === '' || !isDecodable(address)) {
    throw new Error(`${variable} is not a proxy's address, such as http://proxy.example:3128`);
  }
  if (address.protocol === 'http:' || address.protocol === 'https:') return address;
  throw new Error(
    `${variable} names a proxy of the kind ${address.protocol}//, but only http:// and https:// are supported`,
  );
}

/** A `%` in a password that is not written as `%25` would fail only at the first request. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/**
 * The proxies of the environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or the lower-case variables
 * when these are not set.
 * @throws Error that names an invalid variable
 */
export function proxyFromEnvironment(env: NodeJS.ProcessEnv = process.env): ProxyConfig {
  const config = {
    ...variable(env, 'httpProxy', 'HTTP_PROXY'),
    ...variable(env, 'httpsProxy', 'HTTPS_PROXY'),
    ...variable(env, 'noProxy', 'NO_PROXY'),
  };
  // Fails when the process starts, not at the first fetch.
  createProxyChooser(config);
  return config;
}

function variable(env: NodeJS.ProcessEnv, field: keyof ProxyConfig, name: string): ProxyConfig {
  const value = [env[name], env[name.toLowerCase()]].find((value) => (value ?? '') !== '');
  return value === undefined ? {} : { [field]: value };
}

type Matcher = (host: Host) => boolean;

interface Host {
  /** In lower case; an IPv6 address without brackets. */
  readonly name: string;
  /** 0 for a name, otherwise 4 or 6. */
  readonly family: number;
  readonly port: string;
}

/**
 * Whether an address needs no proxy: this machine, and addresses in NO_PROXY: `*`, IP addresses and
 * CIDRs, `example.com` (with its subdomains), `.example.com` and `*.example.com` (only its
 * subdomains). Each of them except a CIDR may have a port.
 */
function noProxyMatcher(list: string): (address: URL) => boolean {
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

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an address is on this machine; in a cluster, in this Pod. */
export function isThisMachine({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const family = isIP(name);
  if (family === 0) return name === 'localhost';
  return loopback.check(name, family === 4 ? 'ipv4' : 'ipv6');
}
