import { connect, type Socket } from 'node:net';
import type { Client, ClientChannel, PublicKeyAuthMethod } from 'ssh2';
import {
  type AddressPolicy,
  connectionProblem,
  createAddressGuard,
} from '../../../platform/net/index.ts';
import type { SSHCredentials } from '../credentials.ts';
import type { SSHAddress } from '../repository-address.ts';
import { printable } from '../server-refusal.ts';

interface SSHTimeouts {
  /** Milliseconds until the connection must be established. */
  readonly connect: number;
  /** Milliseconds from the start until the login must succeed. */
  readonly handshake: number;
  /** Milliseconds without data from the server. */
  readonly idle: number;
}

export interface RemoteProcessOptions extends SSHCredentials {
  readonly address: SSHAddress;
  /** Addresses that connections may use (default: all). */
  readonly addresses?: AddressPolicy | undefined;
  readonly timeouts: SSHTimeouts;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

const stderrKept = 4096;

/** One command on a host, over a separate SSH connection, as with git's ssh. */
export class RemoteProcess {
  readonly #options: RemoteProcessOptions;
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #failed = Promise.withResolvers<never>();
  readonly #closed = Promise.withResolvers<void>();
  #failure: Error | undefined;
  #channel: ClientChannel | undefined;
  #exited = false;
  #stderr = '';

  private constructor(client: Client, options: RemoteProcessOptions) {
    this.#options = options;
    this.#client = client;
    this.#failed.promise.catch(() => undefined);
    const { host, port } = options.address;
    // Without noDelay, each of the handshake's many small packets would wait for the ACK of the one
    // before.
    const guard = options.addresses && createAddressGuard(options.addresses);
    guard?.checkHost(host);
    const lookup = guard && { lookup: guard.lookup };
    this.#socket = connect({ host, port, noDelay: true, ...lookup });
    options.signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Resolves when the command has started; close it in any case. */
  static async start(command: string, options: RemoteProcessOptions): Promise<RemoteProcess> {
    // Loaded when needed: most repositories are not fetched over SSH.
    const { default: ssh2 } = await import('ssh2');
    options.signal.throwIfAborted();
    const process = new RemoteProcess(new ssh2.Client(), options);
    try {
      await Promise.race([process.#logIn(), process.#failed.promise]);
      await Promise.race([process.#execute(command), process.#failed.promise]);
      return process;
    } catch (error) {
      process.close();
      throw error;
    }
  }

  /** The end of the command's standard error. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Its standard output; throws when the connection ends it. */
  async *output(): AsyncIterableIterator<Uint8Array> {
    try {
      for await (const chunk of this.#channel ?? []) yield chunk as Buffer;
      await Promise.race([this.#closed.promise, this.#failed.promise]);
    } catch (error) {
      throw this.#failure ?? error;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Writes the command's whole standard input. */
  end(input: Uint8Array): void {
    this.#channel?.end(input);
  }

  close(): void {
    this.#options.signal.removeEventListener('abort', this.#abort);
    this.#client.destroy();
    this.#socket.destroy();
  }

  #logIn(): Promise<void> {
    const { address, key, hostKeys, timeouts } = this.#options;
    const socket = this.#socket.setTimeout(timeouts.connect);
    socket.once('connect', () => socket.setTimeout(timeouts.idle));
    socket.on('timeout', () => this.#fail(this.#silence(socket)));
    // Not `once`: a connection may emit several errors, and an unhandled one ends the process.
    this.#client.on('error', (error) => this.#fail(sshError(error, this.#options)));
    this.#client.on('close', () => {
      if (!this.#exited) this.#fail(new Error('ssh: the server closed the connection too early'));
    });
    const ready = new Promise<void>((resolve) => this.#client.once('ready', resolve));
    const login: PublicKeyAuthMethod = { type: 'publickey', username: address.user, key };
    this.#client.connect({
      sock: socket,
      readyTimeout: timeouts.handshake,
      username: address.user,
      authHandler: [login],
      ...(hostKeys === undefined
        ? {}
        : { algorithms: { serverHostKey: [...hostKeys.algorithms] } }),
      hostVerifier: (shown: Buffer) => this.#accepts(shown),
    });
    return ready;
  }

  #accepts(shown: Buffer): boolean {
    try {
      this.#options.hostKeys?.check(shown);
      return true;
    } catch (error) {
      this.#fail(error as Error);
      return false;
    }
  }

  #execute(command: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.exec(command, (error, channel) => {
        if (error !== undefined) {
          reject(new Error(`ssh: the server runs no commands: ${error.message}`, { cause: error }));
          return;
        }
        this.#channel = channel;
        channel.on('exit', () => (this.#exited = true));
        channel.on('close', () => this.#closed.resolve());
        // The reader of its output receives the error.
        channel.on('error', () => undefined);
        channel.stderr.on('data', (chunk: Buffer) => {
          this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-stderrKept);
        });
        resolve();
      });
    });
  }

  #silence(socket: Socket): Error {
    const { address, timeouts } = this.#options;
    if (socket.connecting)
      return new Error(`dial tcp ${address.host}:${address.port}: i/o timeout`);
    return new Error(`ssh: the server was silent for ${timeouts.idle / 1000} seconds`);
  }

  readonly #abort = (): void => this.#fail(this.#options.signal.reason as Error);

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#failed.reject(this.#failure);
    this.#client.destroy();
    this.#socket.destroy();
  }
}

interface FailedConnection {
  readonly address: Pick<SSHAddress, 'user'>;
  readonly timeouts: { readonly handshake: number };
  readonly secretName: string;
}

/** An error of ssh2 in words that users of git know. */
function sshError(
  error: Error & { readonly level?: string },
  { address, timeouts, secretName }: FailedConnection,
): Error {
  switch (error.level) {
    case 'client-socket':
      return new Error(connectionProblem(error), { cause: error });
    case 'client-timeout':
      return new Error(
        `ssh: handshake failed: the server did not let us in within ${timeouts.handshake / 1000} seconds`,
        { cause: error },
      );
    case 'client-authentication':
      return new Error(
        `ssh: handshake failed: ssh: unable to authenticate: the server does not take key "ssh-privatekey" of Secret "${secretName}" for user "${address.user}"`,
        { cause: error },
      );
    default:
      return new Error(`ssh: ${printable(error.message)}`, { cause: error });
  }
}
