/** As many as uploads that run at once have by default. */
const mostSpare = 4;

const spare: Uint8Array[] = [];

/**
 * Lends a buffer of at least so many bytes while work is under way. Buffers are used again: they are
 * large, and V8 collects garbage of that kind late.
 */
export async function withChunkBuffer<T>(
  length: number,
  work: (buffer: Uint8Array) => Promise<T>,
): Promise<T> {
  const found = spare.findIndex(({ byteLength }) => byteLength >= length);
  const [buffer = new Uint8Array(length)] = found === -1 ? [] : spare.splice(found, 1);
  try {
    return await work(buffer);
  } finally {
    if (spare.length < mostSpare) spare.push(buffer);
  }
}
