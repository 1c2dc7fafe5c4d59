import type { IncomingMessage, Server } from 'node:http';
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
  /** Requests in progress, and when each began. */
  readonly running: Map<IncomingMessage, number>;
  /** Whether a request was answered on it, as on the API server's kept connections. */
  hasServed: boolean;
}

/**
 * Limits the connections of a server, in total and per address. A further one replaces the least
 * useful one, so that clients of a few addresses cannot keep others out: one that never sent a
 * request, an idle one, one whose request is not complete, or one that is being answered.
 *
 * `onCrowded` is called for the first one that is closed, and for each thousandth: a flood of
 * connections must not become a flood of log lines.
 */
export function guardConnections(server: Server, onCrowded: (crowd: Crowd) => void): void {
  const guard = new ConnectionGuard(onCrowded);
  server.on('connection', (socket) => {
    if (socket instanceof Socket) guard.add(socket);
  });
  server.on('request', (request, response) => {
    guard.begin(request);
    response.once('close', () => guard.end(request));
  });
}

class ConnectionGuard {
  readonly #connections = new Map<string, Connection>();
  readonly #onCrowded: (crowd: Crowd) => void;
  #closed = 0;
  #requests = 0;

  constructor(onCrowded: (crowd: Crowd) => void) {
    this.#onCrowded = onCrowded;
  }

  add(socket: Socket): void {
    const key = keyOf(socket);
    const { remoteAddress: address = '' } = socket;
    if (!this.#makeRoom(address)) {
      socket.destroy();
      this.#say(address);
      return;
    }
    const connection = { key, socket, address, running: new Map(), hasServed: false };
    this.#connections.set(key, connection);
    socket.once('close', () => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    });
  }

  begin(request: IncomingMessage): void {
    this.#requests += 1;
    this.#connections.get(keyOf(request.socket))?.running.set(request, this.#requests);
  }

  end(request: IncomingMessage): void {
    const connection = this.#connections.get(keyOf(request.socket));
    if (connection?.running.delete(request)) connection.hasServed = true;
  }

  /** Closes a connection, if there is none left for the address; false when none may be closed. */
  #makeRoom(address: string): boolean {
    const all = [...this.#connections.values()];
    const own = all.filter((connection) => connection.address === address);
    const isFull = all.length >= maxConnections;
    if (own.length < maxOfAddress && !isFull) return true;
    const given = own.length < maxOfAddress ? leastUseful(all, own.length) : unused(own);
    if (given === undefined) return false;
    given.socket.destroy();
    this.#connections.delete(given.key);
    this.#say(given.address);
    return true;
  }

  #say(address: string): void {
    if (this.#closed % 1_000 === 0) {
      this.#onCrowded({ address, connections: this.#connections.size });
    }
    this.#closed += 1;
  }
}

/** Of one address: no connection of it takes the place of another one that is in use. */
function unused(own: readonly Connection[]): Connection | undefined {
  return own
    .filter(({ running }) => running.size === 0)
    .toSorted((a, b) => Number(a.hasServed) - Number(b.hasServed))[0];
}

/**
 * The connection to close for one of an address that has `own` connections. What was of use is
 * closed only for an address that has no more, and what is being answered only for one that has
 * fewer: the youngest of the address with the most, which loses the least.
 */
function leastUseful(all: readonly Connection[], own: number): Connection | undefined {
  const counts = Map.groupBy(all, ({ address }) => address);
  const crowd = ({ address }: Connection): number => counts.get(address)?.length ?? 0;
  const mayClose = (connection: Connection): boolean => {
    const rank = usefulness(connection);
    if (rank === 0) return true;
    return rank < busy ? crowd(connection) >= own : crowd(connection) > own + 1;
  };
  return all
    .filter(mayClose)
    .toSorted(
      (a, b) => usefulness(a) - usefulness(b) || crowd(b) - crowd(a) || begunAt(b) - begunAt(a),
    )[0];
}

const busy = 3;

function usefulness({ running, hasServed }: Connection): 0 | 1 | 2 | typeof busy {
  if (running.size === 0) return hasServed ? 1 : 0;
  return running.keys().every(({ complete }) => complete) ? busy : 2;
}

function begunAt({ running }: Connection): number {
  return Math.max(0, ...running.values());
}

/** The TLS socket differs from the TCP socket, but has the same addresses. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
