import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { Agent, Dispatcher, Pool, ProxyAgent } from 'undici';
import { type AddressGuard, type AddressPolicy, createAddressGuard } from './address-policy.ts';
import { createProxyChooser, type ProxyChooser, type ProxyConfig } from './proxy.ts';

export interface DispatcherOptions {
  readonly proxy?: ProxyConfig | undefined;
  /**
   * Which addresses may be connected to (default: all). Of what goes through a proxy, the proxy
   * decides.
   */
  readonly addresses?: AddressPolicy | undefined;
  /** PEM certificates of authorities to trust besides Node's and the system's. */
  readonly caCertificates?: readonly string[];
  /** What servers that ask for it are shown; never the proxy. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Takes any certificate from servers; the proxy's is checked all the same. */
  readonly insecureSkipVerify?: boolean;
  /** Milliseconds until a connection must stand. */
  readonly connectTimeout: number;
  /** Milliseconds that a server may stay silent; 0 for as long as the request's signal lets it. */
  readonly idleTimeout: number;
  /** Requests to one server at once; the others wait. Default: no bound. */
  readonly connections?: number;
}

/** PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** For undici's `request`: keeps connections open, and goes through a proxy where one is set. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new ProxiedDispatcher(options);
}

class ProxiedDispatcher extends Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #choose: ProxyChooser;
  readonly #guard: AddressGuard | undefined;
  /** By the proxy's address; the empty one has none. Made when first needed. */
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
    // Names are looked at when they are resolved; addresses never are.
    if (proxy === undefined) this.#guard?.checkHost(origin.hostname);
    // With the request, as undici's forwarding proxy knows no options of its own.
    return this.#agent(proxy).dispatch({ ...timeouts(this.#options), ...options }, handler);
  }

  // Those of the base class fit callbacks too, which nobody uses here.
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
    // Else a proxy that never answers would be waited for much longer than any server.
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

/** Made once for many connections: reading some hundred certificates takes its time. */
function secureContext({
  caCertificates,
  clientCertificate,
}: {
  readonly caCertificates: readonly string[];
  readonly clientCertificate?: ClientCertificate | undefined;
}): SecureContext {
  const known = [...getCACertificates('default'), ...getCACertificates('system')];
  const ca = [...new Set([...known, ...caCertificates])];
  if (clientCertificate !== undefined) return createSecureContext({ ca, ...clientCertificate });
  if (caCertificates.length > 0) return createSecureContext({ ca });
  usual ??= createSecureContext({ ca });
  return usual;
}
