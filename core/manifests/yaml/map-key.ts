import { fitsSixtyFourBits, resolveFloat, resolveInteger, resolvePlain } from './plain-scalar.ts';

/**
 * The JSON key that a plain scalar makes: `on` is "true", `1e6` is "1e+06". Undefined for what Go
 * takes for no key: null, and integers that fit 64 bits without a sign only.
 */
export function plainKey(text: string): string | undefined {
  const value = resolvePlain(text);
  if (typeof value === 'string') return value;
  if (value === null) return undefined;
  if (typeof value === 'boolean') return String(value);
  const integer = resolveInteger(text);
  if (integer === undefined) return floatKey(resolveFloat(text) ?? Number.NaN);
  if (isUnsigned(integer)) return undefined;
  // What is beyond 64 bits is a float for Go.
  return fitsSixtyFourBits(integer) ? integer.toString() : floatKey(Number(integer));
}

function isUnsigned(integer: bigint | number): boolean {
  return integer >= 2n ** 63n && fitsSixtyFourBits(integer);
}

/** Sets a member as data, so that the key `__proto__` is a key like any other. */
export function setMember(object: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    (object as Record<string, unknown>)[key] = value;
  }
}

// Go writes float keys with the shortest digits that a 32-bit float needs, in its %g format.
function floatKey(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  const shortest = shortestSingle(single);
  const [digits = '0', exponentText = '0'] = shortest.split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Object.is(single, -0) ? '-0' : `${Number(shortest)}`;
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function shortestSingle(value: number): string {
  for (let fraction = 0; fraction < 9; fraction += 1) {
    const text = value.toExponential(fraction);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential(9);
}
