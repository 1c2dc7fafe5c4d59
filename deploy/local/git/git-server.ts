import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { KeyPair } from '../cluster/certificates.ts';

export interface GitServerOptions {
  /** Folder whose sub-folders are the repositories. */
  readonly root: string;
  /** Required of every request, if set. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Without it, plain HTTP. */
  readonly tls?: KeyPair;
  /** Default: any free one. */
  readonly port?: number;
}

export interface GitServer {
  /** `http://127.0.0.1:<port>`, or https; repositories are below it. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves repositories over smart HTTP(S) on loopback, with git's own `http-backend`. */
export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (!authorized(request, options)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    serve(request, response, options.root);
  };
  const { tls } = options;
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function authorized(request: IncomingMessage, { credentials }: GitServerOptions): boolean {
  if (credentials === undefined) return true;
  const pair = `${credentials.username}:${credentials.password}`;
  return request.headers.authorization === `Basic ${Buffer.from(pair).toString('base64')}`;
}

function serve(request: IncomingMessage, response: ServerResponse, root: string): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
    },
  });
  backend.on('error', (error) => response.writeHead(500).end(error.message));
  // A backend that refuses early closes its input.
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  relay(backend, response);
}

/** CGI: header lines, an empty line, the body. */
function relay(backend: ChildProcessWithoutNullStreams, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    backend.stdout.off('data', onHead);
    writeHead(head.subarray(0, end).toString('latin1'), response);
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on('data', onHead);
  backend.stdout.on('end', () => response.end());
  createInterface(backend.stderr).on('line', () => undefined);
}

function writeHead(head: string, response: ServerResponse): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
