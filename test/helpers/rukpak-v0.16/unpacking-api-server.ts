import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request as requestUpstream } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import {
  CredentialSource,
  loadKubeconfig,
  type TlsOptions,
} from '../../../core/platform/kube/index.ts';

/** What a kubelet would find under a reference. */
export interface PulledImage {
  /** With its digest, as the container's status has it. */
  readonly id: string;
  /** tar.gz */
  readonly archive: Uint8Array;
}

interface Pod {
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
}

/**
 * The API server as RukPak sees it: pods that unpack images have done so, and their logs have the
 * content, which no kubelet of the local control plane could say. All else is the API server's.
 */
export class UnpackingApiServer {
  readonly #server: Server;
  readonly #upstream: { readonly url: URL; readonly tls: TlsOptions };
  readonly #images: ReadonlyMap<string, PulledImage>;
  /** The image of each pod. */
  readonly #pods = new Map<string, PulledImage>();

  /** `images` by reference; more may be added later. */
  static async start(
    kubeconfig: string,
    images: ReadonlyMap<string, PulledImage>,
  ): Promise<UnpackingApiServer> {
    const config = loadKubeconfig({ kubeconfig });
    const { tls } = await new CredentialSource(config).current();
    const found = new UnpackingApiServer({ url: new URL(config.cluster.server), tls }, images);
    await new Promise<void>((resolve) => found.#server.listen(0, '127.0.0.1', resolve));
    return found;
  }

  private constructor(
    upstream: { readonly url: URL; readonly tls: TlsOptions },
    images: ReadonlyMap<string, PulledImage>,
  ) {
    this.#upstream = upstream;
    this.#images = images;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = /\/namespaces\/rukpak-system\/pods\/([^/?]+)(\/log)?(?:\?|$)/.exec(
      request.url ?? '',
    );
    const [, name = '', log] = target ?? [];
    const image = this.#pods.get(name);
    if (log !== undefined && image !== undefined) {
      response.end(JSON.stringify({ content: Buffer.from(image.archive).toString('base64') }));
      return;
    }
    if (target !== null && request.method === 'PATCH') await this.#unpack(name, request, response);
    else {
      const answer = await this.#send(request, request.headers, request);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }
  }

  /** RukPak applies the pod until it has succeeded. */
  async #unpack(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { spec } = JSON.parse(body.toString()) as Pod;
    const image = this.#images.get(spec?.containers?.[0]?.image ?? '');
    if (image !== undefined) this.#pods.set(name, image);
    const { 'accept-encoding': _, ...headers } = request.headers;
    const answer = await this.#send(request, headers, body);
    const applied = JSON.parse(await text(answer)) as object;
    const containerStatuses = [{ name: 'bundle', imageID: image?.id }];
    const status = { phase: 'Succeeded', containerStatuses };
    const isApplied = answer.statusCode === 200 && image !== undefined;
    response.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isApplied ? { ...applied, status } : applied));
  }

  #send(
    { method, url: path }: IncomingMessage,
    headers: IncomingMessage['headers'],
    body: IncomingMessage | Buffer,
  ): Promise<IncomingMessage> {
    const { url, tls } = this.#upstream;
    const { host: _, ...others } = headers;
    return new Promise((resolve, reject) => {
      const { hostname, port } = url;
      const upstream = requestUpstream({ hostname, port, path, method, headers: others, ...tls });
      upstream.once('response', resolve).once('error', reject);
      if (Buffer.isBuffer(body)) upstream.end(body);
      else {
        body.pipe(upstream);
        body.once('close', () => body.complete || upstream.destroy());
      }
    });
  }
}
