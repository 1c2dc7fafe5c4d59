import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import {
  DeniedError,
  discard,
  type ImageReference,
  type RegistryClient,
  repositoryName,
  type TransportResponse,
} from '../../../core/registry/index.ts';
import type { Descriptor } from './layout.ts';
import { openRepository, type RegistryAccess } from './registry.ts';

export interface PushOptions extends RegistryAccess {
  readonly signal: AbortSignal;
}

const descriptorSchema = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.int(),
});
const manifestSchema = z.object({
  mediaType: z.string(),
  manifests: z.array(descriptorSchema).optional(),
  config: descriptorSchema.optional(),
  layers: z.array(descriptorSchema).optional(),
});
const layoutSchema = z.object({ manifests: z.array(descriptorSchema).length(1) });

/**
 * Pushes the image of an OCI layout under a tag; what the registry has already is not sent again.
 * @throws Error that names what the registry answered
 */
export async function pushLayout(
  folder: string,
  target: ImageReference & { readonly tag: string },
  options: PushOptions,
): Promise<void> {
  const repository = repositoryName(target);
  try {
    const client = await openRepository(target, 'pull,push', options);
    const push = new LayoutPush(folder, client, options.signal);
    const text = await readFile(join(folder, 'index.json'), 'utf8');
    const [index] = layoutSchema.parse(JSON.parse(text)).manifests;
    if (index !== undefined) await push.manifest(index, target.tag);
  } catch (error) {
    if (!(error instanceof DeniedError)) throw error;
    throw new Error(
      `cannot push to ${repository}: ${error.message}; log in with "docker login ${target.domain}", without a credential helper`,
      { cause: error },
    );
  }
}

class LayoutPush {
  readonly #folder: string;
  readonly #client: RegistryClient;
  readonly #signal: AbortSignal;

  constructor(folder: string, client: RegistryClient, signal: AbortSignal) {
    this.#folder = folder;
    this.#client = client;
    this.#signal = signal;
  }

  /** After all that it names: no registry takes a manifest whose parts it has not. */
  async manifest(descriptor: Descriptor, name = descriptor.digest): Promise<void> {
    const body = await this.#read(descriptor);
    const { manifests, config, layers } = manifestSchema.parse(JSON.parse(body.toString('utf8')));
    for (const each of manifests ?? []) await this.manifest(each);
    for (const each of [config, ...(layers ?? [])]) if (each !== undefined) await this.#blob(each);
    const headers = { 'content-type': descriptor.mediaType };
    await this.#send(`manifests/${name}`, { method: 'PUT', headers, body, expected: 201 });
  }

  async #blob(descriptor: Descriptor): Promise<void> {
    const path = `blobs/${descriptor.digest}`;
    const known = await this.#client.request(path, { method: 'HEAD', signal: this.#signal });
    await discard(known);
    if (known.status === 200) return;
    const started = await this.#send('blobs/uploads/', { method: 'POST', expected: 202 });
    const { location } = started.headers;
    if (typeof location !== 'string')
      throw new Error(`${started.url.host} names no upload location`);
    const url = new URL(location, started.url);
    url.searchParams.set('digest', descriptor.digest);
    const headers = { 'content-type': 'application/octet-stream' };
    const body = await this.#read(descriptor);
    await this.#send(url.href, { method: 'PUT', headers, body, expected: 201 });
  }

  async #send(path: string, wanted: WantedRequest): Promise<TransportResponse> {
    const { expected, ...request } = wanted;
    const response = await this.#client.request(path, { ...request, signal: this.#signal });
    if (response.status !== expected) {
      const answer = (await response.body.text()).slice(0, 500);
      throw new Error(`${request.method} ${response.url.href}: ${response.status} ${answer}`);
    }
    await discard(response);
    return response;
  }

  async #read({ digest }: Descriptor): Promise<Buffer> {
    return await readFile(join(this.#folder, 'blobs', digest.replace(':', '/')));
  }
}

interface WantedRequest {
  readonly method: 'POST' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly expected: number;
}
