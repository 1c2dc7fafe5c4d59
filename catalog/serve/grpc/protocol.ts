import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromBinary,
  toBinary,
} from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_struct,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { type ProtocolFile, protocolFiles } from './protocol-files.ts';

/** The gRPC protocols of the server, as types for the encoder and as descriptors for reflection. */
class Protocol {
  /** By file name. */
  readonly files: ReadonlyMap<string, FileDescriptorProto>;
  readonly #registry: FileRegistry;

  constructor() {
    const files = [file_google_protobuf_struct.proto, ...protocolFiles.map(descriptorOf)];
    this.files = new Map(files.map((file) => [file.name, file]));
    this.#registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  }

  /** The file that defines a message, field, service, method or enum of this full name. */
  fileOf(symbol: string): FileDescriptorProto | undefined {
    for (let name = symbol; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
      const found = this.#registry.get(name);
      if (found !== undefined && hasMember(found, symbol)) return found.file.proto;
    }
    return undefined;
  }

  services(): readonly DescService[] {
    return protocolFiles.flatMap(({ package: owner, services }) =>
      Object.keys(services).flatMap((name) => this.#registry.getService(`${owner}.${name}`) ?? []),
    );
  }

  encode(type: string, fields: Readonly<Record<string, unknown>>): Uint8Array {
    const desc = this.#message(type);
    return toBinary(desc, create(desc, fields));
  }

  /** @throws Error for bytes that are not such a message */
  decode(type: string, bytes: Uint8Array): Readonly<Record<string, unknown>> {
    return fromBinary(this.#message(type), bytes) as object as Record<string, unknown>;
  }

  #message(type: string): DescMessage {
    const desc = this.#registry.getMessage(type);
    if (desc === undefined) throw new Error(`no message ${type}`);
    return desc;
  }
}

/** Whether the symbol is this type, or one of its fields or methods. */
function hasMember(found: NonNullable<ReturnType<FileRegistry['get']>>, symbol: string): boolean {
  if (found.typeName === symbol) return true;
  const member = symbol.slice(found.typeName.length + 1);
  if (found.kind === 'message') return found.fields.some(({ name }) => name === member);
  return found.kind === 'service' && found.methods.some(({ name }) => name === member);
}

function descriptorOf(file: ProtocolFile): FileDescriptorProto {
  return create(FileDescriptorProtoSchema, {
    name: file.name,
    package: file.package,
    syntax: 'proto3',
    dependency: [...(file.imports ?? [])],
    options: { goPackage: file.goPackage },
    messageType: Object.entries(file.messages).map(([name, fields]) => ({
      name,
      ...fieldsOf(fields, file.package),
      enumType: Object.entries(file.enums?.[name] ?? {}).map(([enumName, values]) => ({
        name: enumName,
        value: values.map((value, number) => ({ name: value, number })),
      })),
    })),
    service: Object.entries(file.services).map(([name, methods]) => ({
      name,
      method: Object.entries(methods).map(([method, text]) => methodOf(method, text, file)),
    })),
  });
}

/** Fields have the numbers of their order in the list, unless the text has another number. */
function fieldsOf(texts: readonly string[], owner: string) {
  const oneofs: string[] = [];
  const field = texts.map((text, index) => {
    const [, oneof, name = '', repeated, type = 'string', number] =
      /^(?:(\w+)\/)?(\w+)(\[\])?(?:: ([\w.]+))?(?: = (\d+))?$/.exec(text) ?? [];
    if (oneof !== undefined && !oneofs.includes(oneof)) oneofs.push(oneof);
    return {
      name,
      jsonName: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      number: Number(number ?? index + 1),
      label: repeated === undefined ? Label.OPTIONAL : Label.REPEATED,
      ...typeOf(type, owner),
      ...(oneof === undefined ? {} : { oneofIndex: oneofs.indexOf(oneof) }),
    };
  });
  return { field, oneofDecl: oneofs.map((name) => ({ name })) };
}

const scalars: ReadonlyMap<string, Type> = new Map([
  ['string', Type.STRING],
  ['bytes', Type.BYTES],
  ['int32', Type.INT32],
]);

function typeOf(type: string, owner: string): { type: Type; typeName?: string } {
  const scalar = scalars.get(type);
  if (scalar !== undefined) return { type: scalar };
  // Only enums are nested in messages.
  const kind = type.includes('.') ? Type.ENUM : Type.MESSAGE;
  return { type: kind, typeName: `.${owner}.${type}` };
}

/** Parses `Request -> Response`, with `stream` before either, and `deprecated` at the end. */
function methodOf(name: string, text: string, { package: owner }: ProtocolFile) {
  const [, clientStreaming, input = '', serverStreaming, output = '', deprecated] =
    /^(stream )?([\w.]+) -> (stream )?([\w.]+)( deprecated)?$/.exec(text) ?? [];
  const full = (type: string) => (type.includes('.') ? `.${type}` : `.${owner}.${type}`);
  return {
    name,
    inputType: full(input),
    outputType: full(output),
    ...(clientStreaming === undefined ? {} : { clientStreaming: true }),
    ...(serverStreaming === undefined ? {} : { serverStreaming: true }),
    options: deprecated === undefined ? {} : { deprecated: true },
  };
}

export const protocol = new Protocol();
