interface Scale {
  readonly factor: bigint;
  /** Power of ten on top of the factor. */
  readonly power: number;
}

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const scales: ReadonlyMap<string, Scale> = new Map([
  ...decimalSuffixes.map((suffix, index): [string, Scale] => [
    suffix,
    { factor: 1n, power: 3 * index - 9 },
  ]),
  ...binarySuffixes.map((suffix, index): [string, Scale] => [
    suffix,
    { factor: 1024n ** BigInt(index + 1), power: 0 },
  ]),
]);

const quantity =
  /^(?<sign>[+-]?)(?<whole>\d{0,30})\.?(?<fraction>(?<=\.)\d{0,30})?(?<suffix>\D{0,2}|[eE][+-]?\d{1,2})$/;

/** True where two texts are the same Kubernetes quantity: `1000m` and `1`, `1Gi` and `1024Mi`. */
export function sameQuantity(a: string, b: string): boolean {
  const left = nanosOf(a);
  return left !== undefined && left === nanosOf(b);
}

/** The quantity in units of 1e-9, the finest that Kubernetes knows. */
function nanosOf(text: string): bigint | undefined {
  const { sign, whole = '', fraction = '', suffix = '' } = quantity.exec(text)?.groups ?? {};
  const scale = scaleOf(suffix);
  if (whole + fraction === '' || scale === undefined) return undefined;
  const digits = BigInt(whole + fraction) * scale.factor * (sign === '-' ? -1n : 1n);
  const power = 9 + scale.power - fraction.length;
  return power >= 0 ? digits * 10n ** BigInt(power) : digits / 10n ** BigInt(-power);
}

function scaleOf(suffix: string): Scale | undefined {
  return /^[eE][+-]?\d/.test(suffix)
    ? { factor: 1n, power: Number(suffix.slice(1)) }
    : scales.get(suffix);
}
