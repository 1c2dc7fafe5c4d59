/**
 * The smallest input found that still fails: pieces are left out, from halves down to single bytes,
 * for as long as `tries` allow.
 */
export async function minimised(
  input: Uint8Array,
  fails: (candidate: Uint8Array) => Promise<boolean>,
  tries: number,
): Promise<Uint8Array> {
  let smallest = input;
  let left = tries;
  for (let size = input.byteLength >> 1; size >= 1; size >>= 1) {
    for (let start = 0; start < smallest.byteLength && left > 0; left -= 1) {
      const candidate = Buffer.concat([
        smallest.subarray(0, start),
        smallest.subarray(start + size),
      ]);
      if (await fails(candidate)) smallest = candidate;
      else start += size;
    }
  }
  return smallest;
}
