import { readFile } from 'node:fs/promises';
import { type Duplex, Readable } from 'node:stream';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { createSecretReader, type TlsOptions } from '../../../core/platform/kube/index.ts';
import {
  announcedContentServer,
  localControlPlane,
} from '../../../deploy/local/cluster/content-server.ts';
import type { Cluster } from '../cluster.ts';
import { defaultCaSecret, type ServerFlags } from '../flags.ts';
import { openPortForward, podOfService } from './port-forward.ts';

/** Where a content server is: its Service, unless the flags name a URL. */
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

/** HTTP to one content server as one caller. */
export interface ContentServer {
  request(request: ServerRequest): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/** Milliseconds. */
const connectTimeout = 10_000;
const answerTimeout = 30_000;

/**
 * Nothing is connected before the first request; each connection looks for a ready pod anew.
 * @throws TerminalError where the CA cannot be found, or the caller would be shown in plain text.
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
  const connect = server === undefined ? forwarded(cluster, place, connector) : connector;
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
        // Whoever sends a body knows how long that may take.
        headersTimeout: body === undefined ? answerTimeout : 0,
        signal,
      }),
    close: async () => await pool.destroy(),
  };
}

function forwarded(
  cluster: Cluster,
  { namespace, service }: ServerPlace,
  connector: buildConnector.connector,
): buildConnector.connector {
  const open = async (): Promise<Duplex> => {
    const signal = AbortSignal.timeout(connectTimeout);
    const pod = await podOfService(cluster, { namespace, service, port: 'https' }, signal);
    return await openPortForward(cluster, pod);
  };
  const connect = async (...[options, callback]: Parameters<typeof connector>): Promise<void> => {
    try {
      const stream = await open();
      // A TLS handshake runs over any stream; only the types ask for a socket.
      connector({ ...options, httpSocket: stream as never }, callback);
    } catch (error) {
      callback(error as Error, null);
    }
  };
  return (options, callback) => void connect(options, callback);
}

/** A token or a bundle has no business on a network in plain text. */
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
  return server === undefined ? await publishedAuthority(cluster, place, signal) : undefined;
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new TerminalError(`--ca-file cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * Whoever makes the certificate puts its authority beside it. The Secret of an authority alone may have
 * outlived its installation: by default it comes second, and first where the user names another.
 */
async function publishedAuthority(
  { client }: Cluster,
  { namespace, service, caSecretName }: ServerPlace,
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
    `no CA to trust the content server by: neither Secret "${names.join('" nor "')}" in namespace "${namespace}" has a ca.crt; name another one with --ca-secret-name, or use --server`,
  );
}

/** Who a content server is to see. */
export interface Caller {
  readonly token?: string;
  readonly certificate?: Required<Pick<TlsOptions, 'cert' | 'key'>>;
}

/**
 * The user of the kubeconfig: the bearer token, however it is come by, or the client certificate.
 * @throws TerminalError where the user has neither, or is to act as somebody else.
 */
export async function kubeconfigCaller(
  cluster: Pick<Cluster, 'credentials' | 'actsAs'>,
): Promise<Caller> {
  if (cluster.actsAs !== undefined) {
    throw new TerminalError(
      `the content server knows the user of a token or certificate only, and cannot take "${cluster.actsAs}" for the caller: run this command without --as, with a kubeconfig of that user`,
    );
  }
  const { headers, tls } = await cluster.credentials();
  const token = /^Bearer (.+)$/i.exec(headers['authorization']?.toString() ?? '')?.[1];
  if (token !== undefined) return { token };
  const { cert, key } = tls;
  if (cert !== undefined && key !== undefined) return { certificate: { cert, key } };
  throw new TerminalError(
    'the user of the kubeconfig has neither a bearer token nor a client certificate, and the content server takes nothing else: choose another one with --context or --kubeconfig',
  );
}

/**
 * The flags, and the content server of `rukpak all` where the cluster is a control plane on this
 * machine and the flags name no server: nothing in such a cluster leads to it.
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
