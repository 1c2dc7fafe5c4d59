import { compareVersions, parseTolerantVersion, VersionError } from '../../../versions/index.ts';
import { added, divided, multiplied, negated, remainder, subtracted } from './arithmetic.ts';
import { compareValues, equal } from './comparison.ts';
import { conversions, numberText } from './conversions.ts';
import type { Steps } from './steps.ts';
import { compared, matched, searched } from './texts.ts';
import { durationPart, timestampPart } from './time.ts';
import {
  Duration,
  failed,
  type Implementation,
  Int,
  isMapValue,
  kindOf,
  numberOf,
  type Operands,
  type Result,
  sizeOfMap,
  Timestamp,
  Uint,
  type Value,
  valueAt,
} from './values.ts';

/** A function or operator of the standard library, or semver_compare, for values of any types. */
export function functionOf(name: string): (values: readonly Value[], steps: Steps) => Result {
  const conversion = conversions.get(name);
  if (conversion !== undefined) return ([value], steps) => conversion(value as Value, steps);
  const implementation = implementations.get(name);
  if (implementation === undefined) return (values, steps) => timePart(name, values, steps);
  return (values, steps) => implementation(values as unknown as Operands, steps);
}

/** An item of a list or map; a failure without it. */
export function indexed(target: Value, index: Value): Result {
  if (Array.isArray(target)) {
    const number = numberOf(index);
    const at = number === undefined ? -1 : Number(number);
    // Sparse lists do not exist: they come from JSON, or from literals.
    return Number.isInteger(at) && at >= 0 && at < target.length ? (target[at] as Value) : failed;
  }
  if (!isMapValue(target)) return failed;
  const found = valueAt(target, index);
  return found === undefined ? failed : found;
}

const implementations: ReadonlyMap<string, Implementation> = new Map<string, Implementation>([
  ['==', ([a, b], steps) => equal(a, b, steps)],
  ['!=', ([a, b], steps) => !equal(a, b, steps)],
  ['<', ordered((order) => order < 0)],
  ['<=', ordered((order) => order <= 0)],
  ['>', ordered((order) => order > 0)],
  ['>=', ordered((order) => order >= 0)],
  ['!_', ([value]) => (typeof value === 'boolean' ? !value : failed)],
  ['-_', negated],
  ['+', added],
  ['-', subtracted],
  ['*', multiplied],
  ['/', divided],
  ['%', remainder],
  ['in', contained],
  ['size', size],
  ['contains', searched],
  ['startsWith', compared((text, part) => text.startsWith(part))],
  ['endsWith', compared((text, part) => text.endsWith(part))],
  ['matches', matched],
  ['semver_compare', comparedVersions],
]);

function ordered(holds: (order: number) => boolean): Implementation {
  return ([a, b], steps) => {
    if (unordered.has(kindOf(a)) || unordered.has(kindOf(b))) return failed;
    const order = compareValues(a, b, steps);
    return order === undefined ? failed : holds(order);
  };
}

const unordered: ReadonlySet<string> = new Set(['null_type', 'type', 'list', 'map']);

function contained([value, container]: Operands, steps: Steps): Result {
  if (Array.isArray(container)) return container.some((item) => equal(value, item as Value, steps));
  return isMapValue(container) ? valueAt(container, value) !== undefined : failed;
}

function size([value]: Operands, steps: Steps): Result {
  if (typeof value === 'string') {
    steps.read(value);
    return new Int(
      BigInt(value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)),
    );
  }
  if (value instanceof Uint8Array || Array.isArray(value)) return new Int(BigInt(value.length));
  if (!isMapValue(value)) return failed;
  const found = sizeOfMap(value);
  steps.take(found);
  return new Int(BigInt(found));
}

/** OLM's function: versions, or anything whose text is one. */
function comparedVersions([a, b]: Operands, steps: Steps): Result {
  const [left, right] = [versionOf(a, steps), versionOf(b, steps)];
  if (left === undefined || right === undefined) return failed;
  return new Int(BigInt(Math.sign(compareVersions(left, right))));
}

function versionOf(value: Value, steps: Steps) {
  const text = printed(value);
  if (text === undefined) return undefined;
  steps.read(text, text, text, text);
  steps.take(versionSteps);
  try {
    return parseTolerantVersion(text);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/** The text of a value as Go prints it, of those that can be a version. */
function printed(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  const number = value instanceof Int || value instanceof Uint ? value.value : numberOf(value);
  return number === undefined ? undefined : numberText(number);
}

/** What reading a version, and finding the offset of a time zone, takes. */
const versionSteps = 50;
const zoneSteps = 5_000;

function timePart(name: string, [target, zone]: readonly Value[], steps: Steps): Result {
  if (target === undefined) return failed;
  if (zone !== undefined) steps.take(zoneSteps);
  const part = partOf(name, target, zone);
  return part === failed ? failed : new Int(BigInt(part));
}

function partOf(
  name: string,
  target: Value,
  zone: Value | undefined,
): number | bigint | typeof failed {
  if (target instanceof Duration) return durationPart(name, target);
  if (!(target instanceof Timestamp)) return failed;
  if (zone === undefined) return timestampPart(name, target, 'UTC');
  return typeof zone === 'string' ? timestampPart(name, target, zone) : failed;
}
