import { noProxyMatcher } from './no-proxy.ts';

/** Which proxies to use, as the variables of the same names say; plain data, to be handed on. */
export interface ProxyConfig {
  /** For http:// addresses. */
  readonly httpProxy?: string;
  /** For https:// addresses. */
  readonly httpsProxy?: string;
  /** Hosts to speak to directly. */
  readonly noProxy?: string;
}

/** The proxy for an address; undefined where there is none. It may hold credentials. */
export type ProxyChooser = (address: URL) => URL | undefined;

/**
 * Chooses as Go's httpproxy does, so that one setting serves all programs of a cluster.
 * @throws Error for a proxy that cannot be used, without showing it: it may hold a password
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
  // `proxy:3128` is read as a scheme by URL, and as a host by everybody else.
  const address = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (address === null || address.hostname === '' || !isDecodable(address)) {
    throw new Error(`${variable} is not a proxy's address, such as http://proxy.example:3128`);
  }
  if (address.protocol === 'http:' || address.protocol === 'https:') return address;
  throw new Error(
    `${variable} names a proxy of the kind ${address.protocol}//, but only http:// and https:// are supported`,
  );
}

/** A `%` of a password that is not written as `%25` would be found at the first request. */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
