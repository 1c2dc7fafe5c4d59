import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';

/**
 * Encodes a JSON object as `google.protobuf.Struct`. The library's encoder represents maps as
 * objects, and loses a key `__proto__`.
 */
export function structMessage(object: JsonObject): Uint8Array {
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
