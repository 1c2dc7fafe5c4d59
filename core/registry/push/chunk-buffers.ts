/** As many as the default number of concurrent uploads. */
const mostSpare = 4;

const spare: Uint8Array[] = [];

/**
 * Runs `work` with a buffer of at least `length` bytes. Reuses buffers: they are large, and V8
 * collects such garbage late.
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
