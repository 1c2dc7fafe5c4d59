/** A float64 in Go's `%g` format: the fewest digits that restore it. */
export function shortest(value: number): string {
  return withExponent(value, String(Math.abs(value)) === '0' ? '0e+0' : value.toExponential());
}

/** The same for a float32: Go reads a number in YAML as one for a field that must be text. */
export function shortestFloat(value: number): string {
  const float = Math.fround(value);
  if (!Number.isFinite(float) || float === 0) return shortest(value);
  for (let digits = 0; digits < 9; digits += 1) {
    const written = float.toExponential(digits);
    if (Math.fround(Number(written)) === float) return withExponent(float, written);
  }
  return withExponent(float, float.toExponential(8));
}

/** Go writes exponents from -5 down and from 6 up, with at least two digits. */
function withExponent(value: number, written: string): string {
  const [mantissa = '', exponent = '0'] = written.split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return plain(value, mantissa, power);
  const sign = power < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

function plain(value: number, mantissa: string, power: number): string {
  const decimals = Math.max(0, mantissa.replace(/^-?\d\.?/, '').length - power);
  return value.toFixed(Math.min(decimals, 100));
}
