import { once } from 'node:events';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { ServedCatalog } from '../served-catalog.ts';
import type { ServedContent } from '../served-content.ts';
import { type CustomSchemaQuery, customBlobs, nameProblem } from './custom-schemas.ts';
import { protocol } from './protocol.ts';
import { ReflectionStream } from './reflection.ts';
import { NotFound, type RegistryRequest, registryQueries } from './registry-queries.ts';

export interface RegistryServerOptions {
  readonly catalog: ServedCatalog;
  /** Without a host, all addresses. */
  readonly address: { readonly host?: string; readonly port: number };
  /** Called for unexpected errors of the server. */
  readonly onError: (error: unknown) => void;
}

type Unary = ServerUnaryCall<Uint8Array, Uint8Array>;
type Stream = ServerWritableStream<Uint8Array, Uint8Array>;
type Answers = Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Maximum wait for open requests at shutdown, in milliseconds. */
const patience = 5000;
/** Of one connection. Each may hold some messages while its client does not read. */
const maxCalls = 100;

/** An error for the client, with gRPC's code. */
class Refusal extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** Serves one catalog over gRPC to OLM: operator-registry's API with health and reflection. */
export class RegistryServer {
  readonly #options: RegistryServerOptions;
  readonly #server = new Server({ 'grpc.max_concurrent_streams': maxCalls });

  constructor(options: RegistryServerOptions) {
    this.#options = options;
    for (const service of protocol.services()) {
      const handlers = service.methods.map((method): [string, UntypedHandleCall] => [
        method.name,
        this.#handler(service, method),
      ]);
      const definitions = service.methods.map((method) => [method.name, definitionOf(method)]);
      this.#server.addService(Object.fromEntries(definitions), Object.fromEntries(handlers));
    }
  }

  /**
   * Resolves with the port once the server listens.
   * @throws TerminalError if the address is not available
   */
  async listen(): Promise<number> {
    const { host, port } = this.#options.address;
    if (host !== undefined) return await this.#bind(`${hostText(host)}:${port}`);
    return await this.#bind(`[::]:${port}`).catch(async (error: unknown) => {
      // The machine has no IPv6.
      if (!errorMessage(error).includes('EAFNOSUPPORT')) throw error;
      return await this.#bind(`0.0.0.0:${port}`);
    });
  }

  /** Waits some seconds for open requests, then ends them. */
  async close(): Promise<void> {
    const force = setTimeout(() => this.#server.forceShutdown(), patience);
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    clearTimeout(force);
  }

  async #bind(where: string): Promise<number> {
    return await new Promise((resolve, reject) => {
      this.#server.bindAsync(where, ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(new TerminalError(`failed to listen: ${bindError(error)}`, { cause: error }));
      });
    });
  }

  #handler(service: DescService, method: DescMethod): UntypedHandleCall {
    if (method.methodKind === 'bidi_streaming') {
      const owner = service.file.proto.package;
      return (call: ServerDuplexStream<Uint8Array, Uint8Array>) => this.#reflect(call, owner);
    }
    if (method.methodKind === 'server_streaming') {
      return (call: Stream) => void this.#stream(call, method);
    }
    return (call: Unary, done: sendUnaryData<Uint8Array>) => void this.#unary(call, method, done);
  }

  async #unary(call: Unary, method: DescMethod, done: sendUnaryData<Uint8Array>): Promise<void> {
    try {
      await using borrowed = this.#options.catalog.borrow();
      done(null, (await this.#answers(call, method, borrowed.content)) as Uint8Array);
    } catch (error) {
      done(this.#refusal(error));
    }
  }

  async #stream(call: Stream, method: DescMethod): Promise<void> {
    try {
      await using borrowed = this.#options.catalog.borrow();
      await send(call, await this.#answers(call, method, borrowed.content));
    } catch (error) {
      if (!call.cancelled) call.emit('error', this.#refusal(error));
    }
  }

  #reflect(call: ServerDuplexStream<Uint8Array, Uint8Array>, owner: string): void {
    const stream = new ReflectionStream(owner);
    call.on('data', (request: Uint8Array) => {
      try {
        if (call.write(stream.answer(request))) return;
        call.pause();
        call.once('drain', () => call.resume());
      } catch (error) {
        call.emit('error', this.#refusal(malformed(error)));
      }
    });
    call.on('end', () => call.end());
  }

  async #answers(
    call: Unary | Stream,
    method: DescMethod,
    content: ServedContent,
  ): Promise<Answers> {
    if (method.parent.typeName === 'grpc.health.v1.Health') return healthAnswer(method);
    const request = requestOf(method, call.request);
    if (method.parent.typeName === 'api.Registry') {
      const query = registryQueries[method.name as keyof typeof registryQueries];
      return await query(content.registry, request as RegistryRequest);
    }
    const [acknowledged] = call.metadata.get('x-acknowledge-experimental');
    if (acknowledged !== 'true') return [];
    return this.#customBlobs(request as CustomSchemaQuery, content);
  }

  #customBlobs(query: CustomSchemaQuery, content: ServedContent): Answers {
    if (query.schema === '') throw new Refusal(status.INVALID_ARGUMENT, 'schema is required');
    const problem = nameProblem(query);
    if (problem === undefined) return customBlobs(content.blobs, query);
    throw new Refusal(status.INVALID_ARGUMENT, `invalid custom schema query: ${problem}`);
  }

  #refusal(error: unknown): { readonly code: status; readonly details: string } {
    const isExpected = error instanceof NotFound || error instanceof Refusal;
    if (!isExpected) this.#options.onError(error);
    const code = error instanceof Refusal ? error.code : status.UNKNOWN;
    return { code, details: errorMessage(error) };
  }
}

/** The system's error, which the library puts into a list of those of all addresses. */
function bindError(error: Error): string {
  const message = errorMessage(error);
  return / errors: \[(.*)\]$/s.exec(message)?.[1] ?? message;
}

function hostText(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Waits for a slow client; stops when it disconnects. */
async function send(call: Stream, answers: Answers): Promise<void> {
  const gone = new AbortController();
  call.once('cancelled', () => gone.abort());
  for await (const answer of answers as AsyncIterable<Uint8Array>) {
    if (call.cancelled) return;
    if (!call.write(answer)) await once(call, 'drain', { signal: gone.signal });
  }
  call.end();
}

function requestOf(method: DescMethod, bytes: Uint8Array): unknown {
  try {
    return protocol.decode(method.input.typeName, bytes);
  } catch (error) {
    throw malformed(error);
  }
}

function malformed(error: unknown): Refusal {
  return new Refusal(status.INTERNAL, `grpc: error unmarshalling request: ${errorMessage(error)}`);
}

/** Status SERVING for any service. opm does not implement Watch. */
function healthAnswer({ name }: DescMethod): Uint8Array {
  if (name !== 'Check') throw new Refusal(status.UNIMPLEMENTED, `method ${name} not implemented`);
  return protocol.encode('grpc.health.v1.HealthCheckResponse', { status: 1 });
}

function definitionOf(method: DescMethod): MethodDefinition<Uint8Array, Uint8Array> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind !== 'unary',
    requestSerialize: asBuffer,
    requestDeserialize: asIs,
    responseSerialize: asBuffer,
    responseDeserialize: asIs,
  };
}

function asIs(bytes: Buffer): Uint8Array {
  return bytes;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
