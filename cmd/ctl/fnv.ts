const prime = 0x1b3n;
const start = 0xcbf29ce484222325n;
const low = 0xffff_ffffn;

/** FNV-1a of 64 bits as Go prints it with `%x`: lower case, without leading zeros. */
export function fnv1a64(bytes: Uint8Array): string {
  // Two 32-bit halves: a BigInt per byte would take seconds for a bundle of many megabytes.
  let high = Number(start >> 32n);
  let rest = Number(start & low);
  const multiplier = Number(prime);
  for (const byte of bytes) {
    rest = (rest ^ byte) >>> 0;
    const product = rest * multiplier;
    // The prime is 2^40 + 0x1b3: its upper part moves the lower half up by 8 bits into the upper one.
    high = (Math.imul(high, multiplier) + Math.floor(product / 0x1_0000_0000) + (rest << 8)) >>> 0;
    rest = product % 0x1_0000_0000;
  }
  return ((BigInt(high) << 32n) | BigInt(rest)).toString(16);
}
