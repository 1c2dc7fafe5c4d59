import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Kubectl } from './kubectl.ts';

interface ServiceSpec {
  readonly clusterIP: string;
  readonly ports: readonly { readonly port: number }[];
}

/**
 * The first port of a Service leads to a port of this machine: its clusterIP is a loopback address
 * of the local control plane, so that the API server calls it by its name, as in a cluster.
 */
export class ServiceForward {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(to: number) {
    this.#server = createServer((incoming) => {
      const outgoing = connect({ host: '127.0.0.1', port: to });
      for (const [socket, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
  }

  static async start(
    kubectl: Kubectl,
    { namespace, service, to }: { namespace: string; service: string; to: number },
  ): Promise<ServiceForward> {
    const forward = new ServiceForward(to);
    const { spec } = (await kubectl.get('service', service, namespace)) as unknown as {
      readonly spec: ServiceSpec;
    };
    forward.#server.listen(spec.ports[0]?.port, spec.clusterIP);
    await once(forward.#server, 'listening');
    return forward;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
