import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** An address at which a registry can be reached, or not. */
export class FlakyRegistry {
  /** `host:port` */
  readonly host: string;
  isReachable = true;
  /** Connections since the registry is not reachable. */
  refused = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, registry: string) {
    this.#server = server;
    const { port } = server.address() as { readonly port: number };
    this.host = `127.0.0.1:${port}`;
    server.on('connection', (socket) => this.#accept(socket, registry));
  }

  static async start(registry: string): Promise<FlakyRegistry> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FlakyRegistry(server, registry);
  }

  /** Ends the connections that there are, and all that come. */
  cutOff(): void {
    this.isReachable = false;
    this.refused = 0;
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cutOff();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket, registry: string): void {
    if (!this.isReachable) {
      this.refused += 1;
      socket.destroy();
      return;
    }
    const [host = '', port] = registry.split(':');
    const upstream = connect(Number(port), host);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
