import { gvkOf } from '../../../api/gvk.ts';
import { type JsonObject, stringifyJson } from '../../../api/json.ts';
import { isMap, listOf } from '../../../api/json-fields.ts';
import { knownGroups } from '../../../api/kubernetes-kinds.ts';
import type { KubernetesObject } from '../../../api/meta.ts';

/** Where values may be quantities: in fields of some names, here and below, or nowhere. */
export type Quantities = 'named' | 'here' | 'nowhere';

/**
 * True when `live` has every value of `desired`. Lists must have the same length and are compared
 * by index; empty values may be missing, and quantities may be written differently.
 */
export function isSubset(
  desired: unknown,
  live: unknown,
  quantities: Quantities = 'named',
): boolean {
  if (desired === undefined || desired === null) return true;
  if (isMap(desired)) {
    if (live !== undefined && live !== null && !isMap(live)) return false;
    return Object.keys(desired).every((key) =>
      isSubset(
        desired[key],
        isMap(live) && Object.hasOwn(live, key) ? live[key] : undefined,
        quantitiesIn(desired, key, quantities),
      ),
    );
  }
  if (Array.isArray(desired)) {
    const items = listOf(live);
    return (
      desired.length === items.length &&
      desired.every((item, index) => isSubset(item, items[index], quantities))
    );
  }
  return isSameScalar(desired, live, quantities);
}

/** Fields whose values, or whose children's values, are resource quantities. */
const quantityFields: ReadonlySet<string> = new Set([
  'capacity',
  'default',
  'defaultRequest',
  'divisor',
  'hard',
  'limits',
  'max',
  'min',
  'requests',
  'sizeLimit',
]);

/**
 * The API server writes quantities in its own way only in the specifications of its own kinds.
 * Elsewhere, 1.10 is another text than 1.1.
 */
export function quantitiesIn(parent: JsonObject, key: string, above: Quantities): Quantities {
  if (above === 'nowhere') return above;
  if (isObject(parent)) return key === 'spec' && isTyped(parent) ? above : 'nowhere';
  return quantityFields.has(key) ? 'here' : above;
}

function isObject(value: JsonObject): value is JsonObject & Typed {
  return typeof value['apiVersion'] === 'string' && typeof value['kind'] === 'string';
}

type Typed = Pick<KubernetesObject, 'apiVersion' | 'kind'>;

/** CRDs have values of any type in their schemas. */
const untypedGroups: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'core.rukpak.io']);
const typedGroups: ReadonlySet<string> = new Set(
  knownGroups.map(({ group }) => group).filter((group) => !untypedGroups.has(group)),
);

/** True for an object of a Go type: the API server normalizes values, and omits empty ones. */
export function isTyped(object: Typed): boolean {
  return typedGroups.has(gvkOf(object).group);
}

function isSameScalar(desired: unknown, live: unknown, quantities: Quantities): boolean {
  if (desired === live) return true;
  if (live === undefined || live === null) return isZero(desired);
  if (isNumber(desired) && isNumber(live)) return stringifyJson(desired) === stringifyJson(live);
  return quantities === 'here' && sameQuantity(asText(desired), asText(live));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** True for values that Go's omitempty omits. */
function isZero(value: unknown): boolean {
  return value === '' || value === false || value === 0;
}

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

/** True when two texts are the same Kubernetes quantity: `1000m` and `1`, `1Gi` and `1024Mi`. */
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
