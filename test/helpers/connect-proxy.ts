import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ConnectProxyOptions {
  /** Where a `host:port` really is (default: the same place). */
  readonly route?: (hostAndPort: string) => string;
  /** What clients must say who they are with. */
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** A proxy for HTTP (absolute addresses) and HTTPS (CONNECT), in this process. */
export class ConnectProxy {
  /** What was asked of it: `CONNECT host:port` or `GET http://host/path`. */
  readonly seen: string[] = [];
  readonly #options: ConnectProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  private constructor(options: ConnectProxyOptions, server: Server) {
    this.#options = options;
    this.#server = server;
  }

  static async start(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
    const server = createServer();
    const proxy = new ConnectProxy(options, server);
    server.on('connect', (request: IncomingMessage, socket: Duplex) =>
      proxy.#tunnel(request, socket),
    );
    server.on('request', (wanted, response) => {
      if (proxy.#isRefused(wanted)) {
        response.writeHead(407).end();
        return;
      }
      const url = new URL(wanted.url ?? '');
      const [host, port] = proxy.#target(url.port === '' ? `${url.host}:80` : url.host);
      const { method, headers } = wanted;
      const path = url.pathname + url.search;
      const forwarded = request({ host, port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      forwarded.on('error', () => response.writeHead(502).end());
      wanted.pipe(forwarded);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** As proxy variables have it, credentials included. */
  get address(): string {
    const { port } = this.#server.address() as AddressInfo;
    const { username, password } = this.#options.credentials ?? { username: '', password: '' };
    const login = username === '' ? '' : `${username}:${encodeURIComponent(password)}@`;
    return `http://${login}127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #tunnel(wanted: IncomingMessage, socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    if (this.#isRefused(wanted)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const [host, port] = this.#target(wanted.url ?? '');
    const server = connect(port, host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(server).pipe(socket);
    });
    server.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    this.#sockets.add(server);
  }

  #isRefused({ method, url, headers }: IncomingMessage): boolean {
    this.seen.push(`${method} ${url}`);
    const { credentials } = this.#options;
    if (credentials === undefined) return false;
    const login = `${credentials.username}:${credentials.password}`;
    const expected = `Basic ${Buffer.from(login).toString('base64')}`;
    return headers['proxy-authorization'] !== expected;
  }

  #target(hostAndPort: string): [string, number] {
    const { route = (same) => same } = this.#options;
    const { hostname, port } = new URL(`http://${route(hostAndPort)}`);
    return [hostname, Number(port)];
  }
}
