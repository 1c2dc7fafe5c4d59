import { readFile } from 'node:fs/promises';
import { type Duplex, Readable } from 'node:stream';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { createSecretReader } from '../../core/platform/kube/index.ts';
import type { Caller } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { openPortForward } from './port-forward.ts';
import { defaultCaSecret, type ServerFlags } from './server-flags.ts';
import { podOfService } from './service-pod.ts';

/** Where a content server is: its Service, unless the flags name a URL. */
export interface ServerPlace extends ServerFlags {
  readonly namespace: string;
  readonly service: string;
}

export interface ServerRequest {
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
