import type { Server } from 'node:http';
import { Socket } from 'node:net';

/**
 * An API server has at most 200 concurrent changes by default, each with a connection to a webhook,
 * and is one address for all users of its proxy.
 */
const maxOfAddress = 256;
const maxConnections = 512;

interface Crowd {
  /** Of the closed connection. */
  readonly address: string;
  /** Number of those that remain. */
  readonly connections: number;
}

interface Connection {
  readonly key: string;
  readonly socket: Socket;
  readonly address: string;
  /** Number of requests in progress. */
  running: number;
  /** Whether a request was answered on it, as on the API server's kept connections. */
  hasServed: boolean;
}

/**
 * Limits the connections of a server, in total and per address. A further one replaces an idle one:
 * first one that never sent a request, of the address with the most connections.
 *
 * `onCrowded` is called for the first one that is closed, and for each thousandth: a flood of
 * connections must not become a flood of log lines.
 */
export function guardConnections(server: Server, onCrowded: (crowd: Crowd) => void): void {
  const guard = new ConnectionGuard(onCrowded);
  server.on('connection', (socket) => {
    if (socket instanceof Socket) guard.add(socket);
  });
  server.on('request', ({ socket }, response) => {
    guard.begin(socket);
    response.once('close', () => guard.end(socket));
  });
}

class ConnectionGuard {
  readonly #connections = new Map<string, Connection>();
  readonly #onCrowded: (crowd: Crowd) => void;
  #closed = 0;

  constructor(onCrowded: (crowd: Crowd) => void) {
    this.#onCrowded = onCrowded;
  }

  add(socket: Socket): void {
    const key = keyOf(socket);
    const { remoteAddress: address = '' } = socket;
    const own = this.#of(address);
    const isFull = this.#connections.size >= maxConnections;
    if (own.length >= maxOfAddress || isFull) {
      const others = isFull && own.length < maxOfAddress ? [...this.#connections.values()] : own;
      const given = this.#leastUseful(others) ?? { socket, address, key };
      given.socket.destroy();
      this.#connections.delete(given.key);
      this.#say(given);
      if (given.socket === socket) return;
    }
    const connection = { key, socket, address, running: 0, hasServed: false };
    this.#connections.set(key, connection);
    socket.once('close', () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    });
  }

  begin(socket: Socket): void {
    const connection = this.#connections.get(keyOf(socket));
    if (connection !== undefined) connection.running += 1;
  }

  end(socket: Socket): void {
    const connection = this.#connections.get(keyOf(socket));
    if (connection === undefined) return;
    connection.running -= 1;
    connection.hasServed = true;
  }

  #say({ address }: Pick<Connection, 'address'>): void {
    if (this.#closed % 1_000 === 0) {
      this.#onCrowded({ address, connections: this.#connections.size });
    }
    this.#closed += 1;
  }

  #of(address: string): readonly Connection[] {
    return [...this.#connections.values()].filter((connection) => connection.address === address);
  }

  /** The oldest of equal ones. */
  #leastUseful(connections: readonly Connection[]): Connection | undefined {
    const counts = Map.groupBy(connections, ({ address }) => address);
    const crowd = ({ address }: Connection): number => counts.get(address)?.length ?? 0;
    return connections
      .filter(({ running }) => running === 0)
      .toSorted((a, b) => Number(a.hasServed) - Number(b.hasServed) || crowd(b) - crowd(a))[0];
  }
}

/** The TLS socket differs from the TCP socket, but has the same addresses. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
