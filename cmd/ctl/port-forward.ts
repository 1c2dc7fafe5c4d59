import { Duplex, Readable, Writable } from 'node:stream';
import { errorMessage } from '../../core/errors.ts';
import { ApiError, toLibraryKubeconfig } from '../../core/platform/kube/index.ts';
import type { Cluster } from './cluster.ts';
import type { PodPort } from './service-pod.ts';

/** What is used of the WebSocket that the library opens with the user's credentials. */
interface ForwardSocket {
  readonly readyState: number;
  send(message: Uint8Array, sent: (error?: Error | null) => void): void;
  on(event: 'close', listener: () => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
}

const dataChannel = 0;
const open = 1;

/**
 * A connection to a port of a pod, through the API server. It ends where the pod closes it; what
 * the node says went wrong becomes the stream's error.
 * @throws Error where the API server refuses, with its own sentence.
 */
export async function openPortForward(
  cluster: Pick<Cluster, 'client' | 'config'>,
  { namespace, pod, port }: PodPort,
): Promise<Duplex> {
  const stream = new ForwardedPort(`port ${port} of pod "${pod}"`);
  const { received, failed } = stream;
  // The library would send from a stream faster than the socket can.
  const unused = new Readable({ read: () => undefined });
  const { PortForward } = await import('@kubernetes/client-node');
  const forward = new PortForward(await toLibraryKubeconfig(cluster.config));
  try {
    const socket = await forward.portForward(namespace, pod, [port], received, failed, unused);
    stream.attach(socket as ForwardSocket);
    return stream;
  } catch (error) {
    const place = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
    const reason = await reasonOf(cluster, `${place}/portforward?ports=${port}`, error);
    throw new Error(
      `cannot forward to port ${port} of pod "${pod}" in namespace "${namespace}": ${reason}`,
      { cause: error },
    );
  }
}

/** The library knows the status code alone; asked again in plain HTTP, the server gives a reason. */
async function reasonOf(
  { client }: Pick<Cluster, 'client'>,
  path: string,
  error: unknown,
): Promise<string> {
  try {
    await client.request({ method: 'GET', path });
  } catch (refusal) {
    // Bad Request is what it says of any request that is no upgrade.
    if (refusal instanceof ApiError && refusal.code !== 400) return refusal.message;
  }
  const { message } = error as { readonly message?: unknown };
  return typeof message === 'string' && message !== '' ? message : errorMessage(error);
}

class ForwardedPort extends Duplex {
  readonly #name: string;
  #socket: ForwardSocket | undefined;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  /** Takes what comes from the pod. */
  readonly received = new Writable({
    write: (data: Buffer, _encoding, done) => {
      if (data.length > 0 && !this.readableEnded && !this.push(data)) this.#socket?.pause();
      done();
    },
  });

  /** Takes what the node says went wrong. */
  readonly failed = new Writable({
    write: (data: Buffer, _encoding, done) => {
      const text = data.toString('utf8').trim();
      if (text !== '') this.destroy(new Error(`${this.#name}: ${text}`));
      done();
    },
  });

  attach(socket: ForwardSocket): void {
    this.#socket = socket;
    socket.on('close', () => this.push(null));
    if (socket.readyState !== open) this.push(null);
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(
    chunk: Uint8Array,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    if (this.#socket === undefined) return done(new Error(`${this.#name} is not connected`));
    const message = Buffer.allocUnsafe(chunk.byteLength + 1);
    message[0] = dataChannel;
    message.set(chunk, 1);
    this.#socket.send(message, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket?.terminate();
    done(error);
  }
}
