const digits = /^[0-9]+$/;

/**
 * Negative where `a` is the older of two resourceVersions of one resource, 0 where they are equal.
 * Undefined where they cannot be compared: some aggregated API servers use other forms.
 */
export function compareResourceVersions(
  a: string | undefined,
  b: string | undefined,
): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (a === b) return 0;
  if (!digits.test(a) || !digits.test(b)) return undefined;
  // Beyond 2^53 a number would round.
  return BigInt(a) < BigInt(b) ? -1 : 1;
}
