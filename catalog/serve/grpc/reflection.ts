import { toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { protocol } from './protocol.ts';

const notFound = { errorCode: 5, errorMessage: 'proto: not found' };

/**
 * Answers the requests of one stream of gRPC's server reflection, which sends each import only
 * once.
 */
export class ReflectionStream {
  readonly #sent = new Set<string>();
  /** Package of the reflection protocol, such as `grpc.reflection.v1`. */
  readonly #package: string;

  constructor(owner: string) {
    this.#package = owner;
  }

  /**
   * The encoded answer.
   * @throws Error for bytes that are not a request
   */
  answer(bytes: Uint8Array): Uint8Array {
    const request = protocol.decode(`${this.#package}.ServerReflectionRequest`, bytes);
    const asked = request['messageRequest'] as { case?: string; value?: unknown };
    return protocol.encode(`${this.#package}.ServerReflectionResponse`, {
      validHost: request['host'],
      originalRequest: request,
      messageResponse: this.#response(asked.case, asked.value),
    });
  }

  #response(asked: string | undefined, value: unknown): object {
    const name = typeof value === 'string' ? value : '';
    if (asked === 'listServices') return servicesResponse();
    if (asked === 'fileByFilename') return this.#files(protocol.files.get(name));
    if (asked === 'fileContainingSymbol') return this.#files(protocol.fileOf(name));
    // The protocols have no extensions.
    if (asked === 'allExtensionNumbersOfType' && protocol.fileOf(name) !== undefined) {
      return { case: 'allExtensionNumbersResponse', value: { baseTypeName: name } };
    }
    return { case: 'errorResponse', value: notFound };
  }

  /** The file, and those of its imports that the stream has not sent yet. */
  #files(first: FileDescriptorProto | undefined): object {
    if (first === undefined) return { case: 'errorResponse', value: notFound };
    const found: FileDescriptorProto[] = [];
    const waiting: FileDescriptorProto[] = [first];
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (found.length === 0 || !this.#sent.has(file.name)) found.push(file);
      this.#sent.add(file.name);
      waiting.push(...file.dependency.flatMap((name) => protocol.files.get(name) ?? []));
    }
    const fileDescriptorProto = found.map((file) => toBinary(FileDescriptorProtoSchema, file));
    return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
  }
}

function servicesResponse(): object {
  const names = protocol.services().map(({ typeName }) => typeName);
  const service = names.toSorted().map((name) => ({ name }));
  return { case: 'listServicesResponse', value: { service } };
}
