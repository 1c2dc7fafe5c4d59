const mostCopied = 0x10000;

/** Bytes that a delta makes, as it declares them. */
export function deltaResultSize(delta: Buffer): number {
  return readSize(delta, readSize(delta, 0).end).value;
}

/**
 * What a delta makes of its base (gitformat-pack, deltified representation).
 * @throws Error where it is for another base, or makes more or less than it declares
 */
export function applyDelta(delta: Buffer, base: Buffer): Buffer {
  const baseSize = readSize(delta, 0);
  if (baseSize.value !== base.byteLength) {
    throw new Error(
      `a delta is for a base of ${baseSize.value} bytes, which has ${base.byteLength}`,
    );
  }
  const resultSize = readSize(delta, baseSize.end);
  const result = Buffer.alloc(resultSize.value);
  let written = 0;
  for (let at = resultSize.end; at < delta.byteLength; ) {
    const { part, end } = readInstruction(delta, at, base);
    if (written + part.byteLength > result.byteLength) throw wrongSize(resultSize.value);
    result.set(part, written);
    written += part.byteLength;
    at = end;
  }
  if (written !== result.byteLength) throw wrongSize(resultSize.value);
  return result;
}

/** The next bytes of the result: of the base, or of the delta itself. */
function readInstruction(
  delta: Buffer,
  start: number,
  base: Buffer,
): { readonly part: Buffer; readonly end: number } {
  const code = delta.readUInt8(start);
  let end = start + 1;
  if (code === 0) throw new Error('a delta has an instruction that is reserved');
  if ((code & 128) === 0) {
    const part = delta.subarray(end, end + code);
    if (part.byteLength < code) throw new Error('a delta is cut off');
    return { part, end: end + code };
  }
  // Bits 0 to 3 say which bytes of the offset follow, bits 4 to 6 which of the size; others are 0.
  const given = (bits: readonly number[]): number => {
    let value = 0;
    for (const [byte, bit] of bits.entries()) {
      if ((code & bit) !== 0) value += delta.readUInt8(end++) * 256 ** byte;
    }
    return value;
  };
  const offset = given([1, 2, 4, 8]);
  const size = given([16, 32, 64]);
  const copied = size === 0 ? mostCopied : size;
  if (offset + copied > base.byteLength) throw new Error('a delta copies what its base has not');
  return { part: base.subarray(offset, offset + copied), end };
}

/** Seven bits a byte, the lowest first. */
function readSize(delta: Buffer, start: number): { value: number; end: number } {
  let end = start;
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = delta.readUInt8(end++);
    value += (byte & 127) * factor;
    if ((byte & 128) === 0) return { value, end };
  }
}

function wrongSize(declared: number): Error {
  return new Error(`a delta does not make the ${declared} bytes that it declares`);
}
