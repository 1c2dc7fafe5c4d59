import { Duplex, Readable, Writable } from 'node:stream';
import type { KubeConfig } from '@kubernetes/client-node';
import { z } from 'zod';
import { record } from '../../../api/record.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { ApiError, queryString, toLibraryKubeconfig } from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';

/** The used members of the WebSocket that the library opens with the user's credentials. */
interface ForwardSocket {
  readonly readyState: number;
  send(message: Uint8Array, sent: (error?: Error | null) => void): void;
  on(event: 'close', listener: () => void): void;
  pause(): void;
  resume(): void;
  terminate(): void;
}

const dataChannel = 0;
const isOpen = 1;

/**
 * A connection to a port of a pod, through the API server. It ends when the pod closes it; an error
 * message of the node becomes the stream's error.
 * @throws Error with the API server's message when it refuses.
 */
export async function openPortForward(
  cluster: Pick<Cluster, 'client' | 'config'>,
  { namespace, pod, port }: PodPort,
): Promise<Duplex> {
  const stream = new ForwardedPort(`port ${port} of pod "${pod}"`);
  const { received, failed } = stream;
  // From a stream the library would send faster than the socket can.
  const unused = new Readable({ read: () => undefined });
  const { PortForward } = await import('@kubernetes/client-node');
  const forward = new PortForward((await toLibraryKubeconfig(cluster.config)) as KubeConfig);
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

/** The library knows only the status code; a plain HTTP request returns the reason. */
async function reasonOf(
  { client }: Pick<Cluster, 'client'>,
  path: string,
  error: unknown,
): Promise<string> {
  try {
    await client.request({ method: 'GET', path });
  } catch (refusal) {
    // The server answers Bad Request to any plain request that is not an upgrade.
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

  /** Receives the pod's data. */
  readonly received = new Writable({
    write: (data: Buffer, _encoding, done) => {
      if (data.length > 0 && !this.readableEnded && !this.push(data)) this.#socket?.pause();
      done();
    },
  });

  /** Receives the node's error messages. */
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
    if (socket.readyState !== isOpen) this.push(null);
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

interface ServicePort {
  readonly namespace: string;
  readonly service: string;
  /** Name or number of the Service's port. */
  readonly port: string | number;
}

interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

const intOrName = z.union([z.int(), z.string()]);

const serviceSchema = z.object({
  spec: z.object({
    selector: record(z.string()).default({}),
    ports: z
      .array(
        z.object({ name: z.string().default(''), port: z.int(), targetPort: intOrName.optional() }),
      )
      .default([]),
  }),
});

const podSchema = z.object({
  metadata: z.object({ name: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.object({
    containers: z.array(
      z.object({
        ports: z
          .array(z.object({ name: z.string().default(''), containerPort: z.int() }))
          .default([]),
      }),
    ),
  }),
  status: z
    .object({
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
    })
    .default({ conditions: [] }),
});

type Pod = z.infer<typeof podSchema>;

/**
 * A ready pod behind a Service, and the pod's port for the Service's port.
 * @throws TerminalError when the Service lacks the port, Error when no pod is ready; ApiError.
 */
export async function podOfService(
  { client }: Pick<Cluster, 'client'>,
  { namespace, service, port }: ServicePort,
  signal: AbortSignal,
): Promise<PodPort> {
  const core = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${core}/services/${encodeURIComponent(service)}`;
  const { spec } = serviceSchema.parse(await client.request({ method: 'GET', path, signal }));
  const place = `Service "${service}" in namespace "${namespace}"`;
  const isNamed = typeof port === 'string';
  const wanted = spec.ports.find((each) => (isNamed ? each.name : each.port) === port);
  if (wanted === undefined) {
    throw new TerminalError(`${place} has no port ${isNamed ? `named "${port}"` : port}`);
  }
  const selector = Object.entries(spec.selector).map(([key, value]) => `${key}=${value}`);
  if (selector.length === 0) {
    throw new TerminalError(`${place} selects no pods: use --server with a URL that is reachable`);
  }
  const query = queryString({ labelSelector: selector.join(',') });
  const list = await client.request({ method: 'GET', path: `${core}/pods${query}`, signal });
  const pod = z
    .object({ items: z.array(podSchema) })
    .parse(list)
    .items.find(isReady);
  if (pod === undefined) {
    throw new Error(
      `no pod of ${place} is ready: see kubectl get pods --namespace ${namespace} --selector ${selector.join(',')}`,
    );
  }
  const target = containerPort(pod, wanted.targetPort ?? wanted.port);
  if (target === undefined) {
    throw new TerminalError(
      `pod "${pod.metadata.name}" has no port named "${wanted.targetPort}", which ${place} wants`,
    );
  }
  return { namespace, pod: pod.metadata.name, port: target };
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function containerPort({ spec }: Pod, target: number | string): number | undefined {
  if (typeof target === 'number') return target;
  const ports = spec.containers.flatMap(({ ports }) => ports);
  return ports.find(({ name }) => name === target)?.containerPort;
}
