import { once } from 'node:events';
import {
  create,
  createFileRegistry,
  type DescService,
  type FileRegistry,
  fromBinary,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { type Client, credentials, Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import { protocol } from '../../catalog/serve/grpc/protocol.ts';

/** What a server answers to one call. */
export interface Answered {
  /** Encoded, in order. */
  readonly messages: readonly Buffer[];
  /** Code and text of gRPC; absent for OK. */
  readonly failure?: readonly [code: number, text: string];
}

/** A client of a gRPC server, generated from what the server says of itself by reflection. */
export class RegistryClient implements Disposable {
  readonly #client: Client;
  #registry: FileRegistry | undefined;

  constructor(port: number) {
    const options = { 'grpc.max_receive_message_length': -1 };
    this.#client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  }

  /** Full names of the services, as reflection lists them. */
  async services(version: 'v1' | 'v1alpha' = 'v1'): Promise<readonly string[]> {
    const [answer] = await this.#reflect([{ case: 'listServices', value: '' }], version);
    const list = answer as { value: { service: readonly { name: string }[] } };
    return list.value.service.map(({ name }) => name);
  }

  /** Answers of reflection to requests in one stream, without the echo of the requests. */
  async reflect(requests: readonly object[]): Promise<readonly unknown[]> {
    return await this.#reflect(requests, 'v1');
  }

  /** The descriptors of the file with a symbol, and of those that it imports, as JSON by name. */
  async files(symbol: string): Promise<Readonly<Record<string, unknown>>> {
    const files = await this.#descriptors(symbol);
    return Object.fromEntries(
      files.map((file) => [file.name, toJson(FileDescriptorProtoSchema, file)]),
    );
  }

  /** Calls a method by its full name, such as `api.Registry/GetPackage`. */
  async call(
    path: string,
    request: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    const [owner = '', name = ''] = path.split('/');
    const service = await this.#service(owner);
    const method = service.methods.find((each) => each.name === name);
    if (method === undefined) throw new Error(`${owner} has no ${name}`);
    const bytes = toBinary(method.input, create(method.input, request));
    return await this.raw(path, [Buffer.from(bytes)], headers);
  }

  /** A message of an answer as JSON. */
  json(type: string, bytes: Uint8Array): unknown {
    const desc = this.#registry?.getMessage(type);
    if (desc === undefined) throw new Error(`no message ${type}`);
    return toJson(desc, fromBinary(desc, bytes));
  }

  async raw(
    path: string,
    requests: readonly Buffer[],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const call = this.#client.makeBidiStreamRequest(`/${path}`, asIs, asIs, metadata);
    const messages: Buffer[] = [];
    call.on('data', (message: Buffer) => messages.push(message));
    for (const request of requests) call.write(request);
    call.end();
    try {
      await once(call, 'end');
      return { messages };
    } catch (error) {
      const { code, details } = error as { code: number; details: string };
      return { messages, failure: [code, details] };
    }
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async #service(name: string): Promise<DescService> {
    if (this.#registry?.getService(name) === undefined) {
      const file = await this.#descriptors(name);
      this.#registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
    }
    const service = this.#registry?.getService(name);
    if (service === undefined) throw new Error(`the server has no ${name}`);
    return service;
  }

  async #descriptors(symbol: string) {
    const [answer] = await this.#reflect([{ case: 'fileContainingSymbol', value: symbol }], 'v1');
    const { value } = answer as { value: { fileDescriptorProto: readonly Uint8Array[] } };
    // Imports come after the files that import them.
    return value.fileDescriptorProto
      .map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
      .toReversed();
  }

  async #reflect(requests: readonly object[], version: string): Promise<readonly unknown[]> {
    const owner = `grpc.reflection.${version}`;
    const encoded = requests.map((messageRequest) =>
      Buffer.from(protocol.encode(`${owner}.ServerReflectionRequest`, { messageRequest })),
    );
    const path = `${owner}.ServerReflection/ServerReflectionInfo`;
    const { messages, failure } = await this.raw(path, encoded);
    if (failure !== undefined) throw new Error(failure.join(': '));
    return messages.map(
      (bytes) => protocol.decode(`${owner}.ServerReflectionResponse`, bytes)['messageResponse'],
    );
  }
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
