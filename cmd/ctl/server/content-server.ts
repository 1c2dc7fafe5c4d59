import { readFile } from 'node:fs/promises';
import { type Duplex, Readable } from 'node:stream';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { createSecretReader, type TlsOptions } from '../../../core/platform/kube/index.ts';
import {
  announcedContentServer,
  localControlPlane,
} from '../../../deploy/local/cluster/components/content-server.ts';
import type { Cluster } from '../cluster.ts';
import { defaultCaSecret, type ServerFlags } from '../flags.ts';
import { openPortForward, podOfService } from './port-forward.ts';

/** The place of a content server: its Service, unless the flags name a URL. */
export interface ServerPlace extends ServerFlags {
  readonly namespace: string;
  readonly service: string;
}

interface ServerRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** HTTP requests to one content server with one caller's credentials. */
export interface ContentServer {
  request(request: ServerRequest): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/** Milliseconds. */
const connectTimeout = 10_000;
const answerTimeout = 30_000;

/**
 * Opens a client. It connects at the first request; each connection looks for a ready pod again.
 * @throws TerminalError when the CA is not found, or when credentials would travel in plain text.
 */
export async function openContentServer(
  cluster: Cluster,
  place: ServerPlace,
  { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
): Promise<ContentServer> {
  const { server } = place;
  if (server !== undefined) checkDirect(server, caller);
  const ca = await authorityOf(cluster, place, signal);
  const tls = { ...caller.certificate, ...(ca === undefined ? {} : { ca }) };
  const url = new URL(server ?? `https://${place.service}.${place.namespace}.svc`);
  const connector = buildConnector({ ...tls, timeout: connectTimeout });
  const connect =
    server === undefined ? forwarded(cluster, { ...place, port: 'https' }, connector) : connector;
  const pool = new Pool(url.origin, {
    connect,
    connections: 1,
    bodyTimeout: 10_000,
  });
  const prefix = url.pathname.replace(/\/$/, '');
  return {
    request: async ({ method, path, headers, body, signal }) =>
      await pool.request({
        method,
        path: prefix + path,
        headers: {
          ...headers,
          ...(caller.token === undefined ? {} : { authorization: `Bearer ${caller.token}` }),
        },
        body: body === undefined ? null : Readable.from(body),
        // The caller that sends a body limits the time itself.
        headersTimeout: body === undefined ? answerTimeout : 0,
        signal,
      }),
    close: async () => await pool.destroy(),
  };
}

interface ForwardedPlace {
  readonly namespace: string;
  readonly service: string;
  /** Name or number of the Service's port. */
  readonly port: string | number;
}

/** Connects through the API server; the connector adds TLS if the URL wants it. */
export function forwarded(
  cluster: Pick<Cluster, 'client' | 'config'>,
  { namespace, service, port }: ForwardedPlace,
  connector: buildConnector.connector,
): buildConnector.connector {
  const open = async (): Promise<Duplex> => {
    const signal = AbortSignal.timeout(connectTimeout);
    const pod = await podOfService(cluster, { namespace, service, port }, signal);
    return await openPortForward(cluster, pod);
  };
  const connect = async (...[options, callback]: Parameters<typeof connector>): Promise<void> => {
    try {
      const stream = await open();
      // TLS and HTTP work on any stream; only the types require a socket.
      if (options.protocol === 'https:') {
        connector({ ...options, httpSocket: stream as never }, callback);
      } else {
        callback(null, stream as never);
      }
    } catch (error) {
      callback(error as Error, null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

/** Tokens and bundles must not travel in plain text. */
function checkDirect(server: string, caller: Caller): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'https:') return;
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) {
    throw new TerminalError(
      `--server ${server} would be sent your credentials in plain text: use https, or http on this machine alone`,
    );
  }
  if (caller.certificate === undefined) return;
  throw new TerminalError(
    `the client certificate of the kubeconfig cannot be shown to --server ${server}: use https, or a user with a token (kubectl create token)`,
  );
}

async function authorityOf(
  cluster: Cluster,
  { server, caFile, ...place }: ServerPlace,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (caFile !== undefined) return await readAuthority(caFile);
  if (server !== undefined) return undefined;
  const cure = 'name another one with --ca-secret-name, or use --server';
  return await publishedAuthority(cluster, { ...place, cure }, signal);
}

/** @throws TerminalError */
export async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new TerminalError(`--ca-file cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

interface AuthorityPlace extends Pick<ServerPlace, 'namespace' | 'service' | 'caSecretName'> {
  /** What a user can do if there is none. */
  readonly cure: string;
}

/**
 * Finds the CA of a server. The process that makes the certificate stores the CA in the same
 * Secret. A separate CA Secret may be left from a deleted installation: by default it is the second
 * choice, and the first when the user names another one.
 */
export async function publishedAuthority(
  { client }: Pick<Cluster, 'client'>,
  { namespace, service, caSecretName, cure }: AuthorityPlace,
  signal: AbortSignal,
): Promise<string> {
  const secrets = createSecretReader(client, namespace);
  const ofService = `${service}-cert`;
  const names = [caSecretName, ofService];
  const inOrder = caSecretName === defaultCaSecret ? [ofService, caSecretName] : names;
  for (const name of inOrder) {
    const ca = (await secrets.read(name, signal))?.data.get('ca.crt');
    if (ca !== undefined) return Buffer.from(ca).toString('utf8');
  }
  throw new TerminalError(
    `rukpakctl cannot verify the content server: neither Secret "${names.join('" nor "')}" in namespace "${namespace}" has key ca.crt; ${cure}`,
  );
}

/** The credentials of a content server's caller. */
export interface Caller {
  readonly token?: string;
  readonly certificate?: Required<Pick<TlsOptions, 'cert' | 'key'>>;
}

/**
 * The user of the kubeconfig: the bearer token from any source, or the client certificate.
 * @throws TerminalError when the user has neither, or impersonates another user.
 */
export async function kubeconfigCaller(
  cluster: Pick<Cluster, 'credentials' | 'actsAs'>,
): Promise<Caller> {
  if (cluster.actsAs !== undefined) {
    throw new TerminalError(
      `this command sends your token or certificate to the content server, so it cannot impersonate "${cluster.actsAs}": run it without --as, with a kubeconfig of that user`,
    );
  }
  const { headers, tls } = await cluster.credentials();
  const token = /^Bearer (.+)$/i.exec(headers['authorization']?.toString() ?? '')?.[1];
  if (token !== undefined) return { token };
  const { cert, key } = tls;
  if (cert !== undefined && key !== undefined) return { certificate: { cert, key } };
  throw new TerminalError(
    'the user of the kubeconfig has neither a bearer token nor a client certificate, and the content server requires one of them: choose another user with --context or --kubeconfig',
  );
}

/**
 * The flags, with the content server of `rukpak all` when the cluster is a control plane on this
 * machine and the flags name no server: no Service in such a cluster leads to it.
 */
export async function reachableServer<Flags extends ServerFlags>(
  { config }: Pick<Cluster, 'config'>,
  flags: Flags,
): Promise<Flags> {
  if (flags.server !== undefined) return flags;
  const layout = await localControlPlane({ files: config.files, server: config.cluster.server });
  const announced = layout && (await announcedContentServer(layout));
  if (announced === undefined) return flags;
  return { ...flags, server: announced.url, caFile: flags.caFile ?? announced.caFile };
}
