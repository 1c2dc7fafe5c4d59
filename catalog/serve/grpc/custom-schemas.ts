import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { goQuote } from '../../../api/go-quote.ts';
import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { CatalogIndex, StoredCatalog } from '../../index/index.ts';

/** Selects blobs of schemas that have no meaning for catalogs. */
export interface CustomSchemaQuery {
  readonly schema: string;
  /** Empty for blobs without a package. */
  readonly packageName: string;
}

const pattern = '^[a-zA-Z0-9][a-zA-Z0-9._-]*$';
const known: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
]);

/** Blobs of a schema as `google.protobuf.Struct`, one after the other. */
export async function* customBlobs(
  content: StoredCatalog,
  { schema, packageName }: CustomSchemaQuery,
): AsyncGenerator<Uint8Array> {
  if (known.has(schema)) return;
  const numbers = content.index.find({ schema, package: packageName });
  for await (const { value } of content.blobs(numbers)) yield structMessage(value);
}

/** opm's problem with a name of a schema or package; undefined for valid names. */
export function nameProblem({ schema, packageName }: CustomSchemaQuery): string | undefined {
  if (schema === '') return 'invalid schema: must not be empty';
  return problemOf('schema', schema) ?? problemOf('packageName', packageName);
}

function problemOf(what: string, name: string): string | undefined {
  if (name === '' || new RegExp(pattern).test(name)) return undefined;
  return `invalid ${what} ${goQuote(name)}: must match ${pattern}`;
}

/**
 * Refuses blobs that opm does not serve: those with an invalid name of a schema or package.
 * @throws TerminalError `invalid custom schema meta: …`
 */
export function checkCustomSchemas(index: CatalogIndex): void {
  for (const schema of index.values('schema')) {
    if (known.has(schema)) continue;
    for (const number of index.find({ schema })) {
      const problem = nameProblem({ schema, packageName: index.blob(number).package });
      if (problem !== undefined) throw new TerminalError(`invalid custom schema meta: ${problem}`);
    }
  }
}

/**
 * Encodes a JSON object as `google.protobuf.Struct`. The library's encoder represents maps as
 * objects, and loses a key `__proto__`.
 */
function structMessage(object: JsonObject): Uint8Array {
  const writer = new BinaryWriter();
  writeStruct(writer, object);
  return writer.finish();
}

function writeStruct(writer: BinaryWriter, object: JsonObject): void {
  for (const [key, value] of Object.entries(object)) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    writer.tag(2, WireType.LengthDelimited).fork();
    writeValue(writer, value);
    writer.join().join();
  }
}

function writeValue(writer: BinaryWriter, value: JsonValue | undefined): void {
  if (value === null || value === undefined) writer.tag(1, WireType.Varint).int32(0);
  else if (typeof value === 'string') writer.tag(3, WireType.LengthDelimited).string(value);
  else if (typeof value === 'boolean') writer.tag(4, WireType.Varint).bool(value);
  else if (isMap(value)) {
    writer.tag(5, WireType.LengthDelimited).fork();
    writeStruct(writer, value);
    writer.join();
  } else if (typeof value === 'object') {
    writer.tag(6, WireType.LengthDelimited).fork();
    for (const item of value) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writeValue(writer, item);
      writer.join();
    }
    writer.join();
  } else writer.tag(2, WireType.Bit64).double(Number(value));
}
