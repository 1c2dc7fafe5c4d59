import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';

/** What is done with a command that a client runs. */
export type Execute = (channel: ServerChannel, command: string) => void;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const hostKey = privateKey.export({ format: 'pem', type: 'pkcs1' });

/** A server in this process that lets everybody in, for what a real one never does. */
export class FakeSSHServer {
  readonly port: number;
  readonly #server: Server;
  readonly #connections: Set<Connection>;

  private constructor(server: Server, connections: Set<Connection>) {
    this.#server = server;
    this.#connections = connections;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(execute: Execute): Promise<FakeSSHServer> {
    const connections = new Set<Connection>();
    const ssh = new ssh2.Server({ hostKeys: [hostKey] }, (connection) => {
      connections.add(connection);
      connection.on('close', () => connections.delete(connection));
      connection.on('error', () => undefined);
      connection.on('authentication', (context) => context.accept());
      connection.on('session', (accept) => {
        accept().on('exec', (acceptCommand, _reject, { command }) => {
          const channel = acceptCommand();
          channel.on('error', () => undefined);
          execute(channel, command);
        });
      });
    });
    // Otherwise each small packet waits 40 ms for the client's delayed ACK.
    const server = createServer({ noDelay: true }, (socket) => ssh.injectSocket(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeSSHServer(server, connections);
  }

  /** Connections that clients have not closed. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const connection of this.#connections) connection.end();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
