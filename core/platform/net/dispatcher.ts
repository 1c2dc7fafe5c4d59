import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent, Dispatcher, Pool, ProxyAgent } from 'undici';
import { type AddressGuard, type AddressPolicy, createAddressGuard } from './address-policy.ts';
import { createProxyChooser, type ProxyChooser, type ProxyConfig } from './proxy.ts';

export interface DispatcherOptions {
  readonly proxy?: ProxyConfig | undefined;
  /** Addresses that connections may use (default: all). Behind a proxy, the proxy decides. */
  readonly addresses?: AddressPolicy | undefined;
  /** PEM certificates of trusted authorities, in addition to those of Node and the system. */
  readonly caCertificates?: readonly string[];
  /** Presented to servers that ask for it, never to the proxy. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Accepts any certificate of servers; the proxy's certificate is verified in any case. */
  readonly insecureSkipVerify?: boolean;
  /** Milliseconds until a connection must be established. */
  readonly connectTimeout: number;
  /** Milliseconds without data from a server; 0 for no limit besides the request's signal. */
  readonly idleTimeout: number;
  /** Concurrent requests per server; others wait (default: unlimited). */
  readonly connections?: number;
}

/** PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** For undici's `request`: keeps connections open, and uses a proxy if one is configured. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new ProxiedDispatcher(options);
}

class ProxiedDispatcher extends Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #choose: ProxyChooser;
  readonly #guard: AddressGuard | undefined;
  /** By the proxy's URL, empty without a proxy. Created at the first use. */
  readonly #agents = new Map<string, Dispatcher>();

  constructor(options: DispatcherOptions) {
    super();
    this.#options = options;
    this.#choose = createProxyChooser(options.proxy);
    this.#guard = options.addresses && createAddressGuard(options.addresses);
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const origin = new URL(options.origin ?? '');
    const proxy = this.#choose(origin);
    // Names are checked when they are resolved; addresses are never resolved.
    if (proxy === undefined) this.#guard?.checkHost(origin.hostname);
    // In the request, because undici's forwarding proxy has no options for them.
    return this.#agent(proxy).dispatch({ ...timeouts(this.#options), ...options }, handler);
  }

  // The base class also declares variants with callbacks, which nothing here uses.
  override close: Dispatcher['close'] = async (): Promise<void> => {
    await Promise.all(this.#take().map((agent) => agent.close()));
  };

  override destroy: Dispatcher['destroy'] = async (): Promise<void> => {
    await Promise.all(this.#take().map((agent) => agent.destroy()));
  };

  #take(): Dispatcher[] {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    return agents;
  }

  #agent(proxy: URL | undefined): Dispatcher {
    const key = proxy?.href ?? '';
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const agent =
      proxy === undefined
        ? directAgent(this.#options, this.#guard)
        : proxyAgent(this.#options, key);
    this.#agents.set(key, agent);
    return agent;
  }
}

function directAgent(options: DispatcherOptions, guard: AddressGuard | undefined): Dispatcher {
  const lookup = guard && { lookup: guard.lookup };
  const connect = { ...serverTls(options), ...lookup };
  return new Agent({ connect, connections: options.connections ?? null });
}

function proxyAgent(options: DispatcherOptions, uri: string): Dispatcher {
  return new ProxyAgent({
    uri,
    connections: options.connections ?? null,
    requestTls: serverTls(options),
    proxyTls: {
      secureContext: secureContext({ caCertificates: options.caCertificates ?? [] }),
      timeout: options.connectTimeout,
    },
    // Otherwise a silent proxy would have a longer timeout than any server.
    clientFactory: (origin, settings) => new Pool(origin, { ...settings, ...timeouts(options) }),
  });
}

function timeouts({ idleTimeout }: DispatcherOptions) {
  return { headersTimeout: idleTimeout, bodyTimeout: idleTimeout };
}

function serverTls(options: DispatcherOptions) {
  const { caCertificates = [], clientCertificate, insecureSkipVerify, connectTimeout } = options;
  return {
    secureContext: secureContext({ caCertificates, clientCertificate }),
    rejectUnauthorized: insecureSkipVerify !== true,
    timeout: connectTimeout,
  };
}

let usual: SecureContext | undefined;
let systemAuthorities: readonly string[] | undefined;

function secureContext({
  caCertificates,
  clientCertificate,
}: {
  readonly caCertificates: readonly string[];
  readonly clientCertificate?: ClientCertificate | undefined;
}): SecureContext {
  if (caCertificates.length > 0 || clientCertificate !== undefined) {
    return contextWith(caCertificates, clientCertificate);
  }
  usual ??= contextWith([], undefined);
  return usual;
}

/**
 * A context that shares Node's own authorities, which the process parses once: with the option `ca`
 * each one parses hundreds of certificates, for a sixth of a second.
 */
function contextWith(
  caCertificates: readonly string[],
  clientCertificate: ClientCertificate | undefined,
): SecureContext {
  systemAuthorities ??= onlyOfSystem();
  const secureContext = createSecureContext({ ...clientCertificate });
  const context = secureContext.context as { addCACert(pem: string): void };
  for (const pem of [...systemAuthorities, ...caCertificates]) context.addCACert(pem);
  return secureContext;
}

/** The system's authorities that Node does not have. */
function onlyOfSystem(): readonly string[] {
  const own = new Set(getCACertificates('default').map(bare));
  return getCACertificates('system').filter((pem) => !own.has(bare(pem)));
}

/** A certificate as base64 alone: line breaks differ. */
function bare(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
}
