import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Kubeconfig } from './kubeconfig.ts';

/** TLS options of a connection; a changed identity needs new connections. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** A kubeconfig of client-node, without its types: they need those of more packages. */
export interface LibraryKubeconfig {
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

export interface Credentials {
  /** A list becomes one header per item. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: TlsOptions;
}

/**
 * Milliseconds: tokens and certificates on disk are rotated; the library caches expensive results.
 */
const maxAge = 10_000;

/** The kubeconfig's present identity: token files, exec plug-ins, OIDC, client certificates. */
export class CredentialSource {
  readonly #config: Kubeconfig;
  #library: Promise<LibraryKubeconfig> | undefined;
  #current: Promise<Credentials> | undefined;
  /** Undefined while they are being read: a plug-in may wait until its user has logged in. */
  #readAt: number | undefined;

  constructor(config: Kubeconfig) {
    this.#config = config;
  }

  /** Concurrent callers share one run of an exec plug-in. Does not cache a failure. */
  async current(): Promise<Credentials> {
    const isOld = this.#readAt !== undefined && performance.now() - this.#readAt > maxAge;
    if (this.#current === undefined || isOld) this.#current = this.#reading();
    return await this.#current;
  }

  async #reading(): Promise<Credentials> {
    this.#readAt = undefined;
    try {
      const credentials = await this.#read();
      this.#readAt = performance.now();
      return credentials;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  async #read(): Promise<Credentials> {
    const { headers, tls } = await this.#own();
    return { headers: { ...headers, ...impersonation(this.#config.user) }, tls };
  }

  /** Credentials of the user itself, without impersonation. */
  async #own(): Promise<Credentials> {
    const { exec, authProvider } = this.#config.user;
    if (!exec && !authProvider) return await readCredentials(this.#config);
    this.#library ??= toLibraryKubeconfig(this.#config);
    return await askLibrary(await this.#library);
  }
}

async function readCredentials({ cluster, user }: Kubeconfig): Promise<Credentials> {
  const { tlsServerName: servername, skipTLSVerify } = cluster;
  const [ca, cert, key] = await Promise.all([
    pem(cluster.caData, cluster.caFile),
    pem(user.certData, user.certFile),
    pem(user.keyData, user.keyFile),
  ]);
  const authorization = await authorizationOf(user);
  return {
    headers: {
      ...(authorization !== undefined && { authorization }),
    },
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername !== undefined && { servername }),
      ...(skipTLSVerify && { rejectUnauthorized: false }),
    },
  };
}

/** Headers of the impersonated user. */
function impersonation({
  impersonateUser,
  impersonateGroups = [],
}: Kubeconfig['user']): Credentials['headers'] {
  return {
    ...(impersonateUser !== undefined && { 'impersonate-user': impersonateUser }),
    ...(impersonateGroups.length > 0 && { 'impersonate-group': [...impersonateGroups] }),
  };
}

async function authorizationOf(user: Kubeconfig['user']): Promise<string | undefined> {
  const { username, password = '', tokenFile } = user;
  if (username !== undefined) return basic(`${username}:${password}`);
  const token = tokenFile === undefined ? user.token : await readFile(tokenFile, 'utf8');
  // The last line break of a token file is not part of the token.
  return token === undefined ? undefined : `Bearer ${token.trim()}`;
}

function basic(nameAndPassword: string): string {
  return `Basic ${Buffer.from(nameAndPassword).toString('base64')}`;
}

async function pem(
  data: string | undefined,
  file: string | undefined,
): Promise<Buffer | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64');
  return file === undefined ? undefined : await readFile(file);
}

/** Runs exec plug-ins and refreshes OIDC tokens. */
async function askLibrary(config: LibraryKubeconfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = headersOf(options);
  if (options.auth) headers['authorization'] = basic(options.auth);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    headers,
    tls: {
      ...(isPem(ca) && { ca }),
      ...(isPem(cert) && { cert }),
      ...(isPem(key) && { key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    },
  };
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = String(value).trim();
  }
  return headers;
}

function isPem(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value);
}

/**
 * The same identity for client-node, which runs exec plug-ins, refreshes OIDC tokens and forwards
 * ports. Loaded only here, and only when needed: it takes as much memory as the rest of the
 * process.
 */
export async function toLibraryKubeconfig({
  cluster,
  user,
}: Kubeconfig): Promise<LibraryKubeconfig> {
  const library = await import('@kubernetes/client-node');
  const config = new library.KubeConfig();
  // It refuses plain HTTP, which `kubectl proxy` serves, unless verification is off.
  const skipTLSVerify = cluster.skipTLSVerify || cluster.server.startsWith('http:');
  config.loadFromClusterAndUser(
    present({ ...cluster, skipTLSVerify, caFile: cluster.caData ? undefined : cluster.caFile }),
    present(withTokenFile(user)),
  );
  return withGroups(config, user.impersonateGroups);
}

/** It has no field for groups, and sends the headers of its options unchanged. */
function withGroups(config: KubeConfig, groups: readonly string[] = []): KubeConfig {
  if (groups.length === 0) return config;
  const apply = config.applyToHTTPSOptions.bind(config);
  config.applyToHTTPSOptions = async (options) => {
    await apply(options);
    options.headers = { ...options.headers, 'Impersonate-Group': [...groups] };
  };
  return config;
}

/** It has another name for the field, and would prefer `token`. */
function withTokenFile({ tokenFile, ...user }: Kubeconfig['user']): Kubeconfig['user'] {
  if (tokenFile === undefined) return user;
  return { ...user, token: undefined, authProvider: { name: 'tokenFile', config: { tokenFile } } };
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>;
}
