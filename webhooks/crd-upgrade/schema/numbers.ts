/** Numbers as Go decodes them from JSON: int64 where they are written as one, else float64. */

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

/** Whether Go holds it as int64. */
export function isInteger(value: number | bigint): boolean {
  return typeof value === 'bigint'
    ? value >= minInt64 && value <= maxInt64
    : Number.isSafeInteger(value);
}

/** Whether a float counts as an integer: within 2^53, and off by less than rounding explains. */
export function isIntegral(value: number | bigint): boolean {
  const float = Number(value);
  if (Math.abs(float) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(float);
  if (float === whole) return true;
  return whole !== 0 && Math.abs(float - whole) / (Math.abs(float) + Math.abs(whole)) < 1e-9;
}

/** A bound as it applies to an int64: without its fraction. */
export function truncated(bound: number | bigint): bigint {
  return typeof bound === 'bigint' ? bound : BigInt(Math.trunc(bound));
}
