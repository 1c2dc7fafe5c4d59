import type { Run, Scope } from './folds.ts';
import type { Steps } from './steps.ts';
import {
  failed,
  isMapValue,
  keyOf,
  keysOf,
  MapLiteral,
  type Result,
  type Value,
} from './values.ts';

export function constant(value: Value): Run {
  return () => value;
}

export function mapKeys(value: Value, steps: Steps): readonly Value[] | undefined {
  if (!isMapValue(value)) return undefined;
  const keys = keysOf(value);
  steps.take(keys.length);
  return keys;
}

/** The values of all operands for a function; a failure if one fails. */
export function strict(
  operands: readonly Run[],
  call: (values: readonly Value[], steps: Steps) => Result,
): Run {
  return (scope, steps) => {
    const values = valuesOf(operands, scope, steps);
    return values === undefined ? failed : call(values, steps);
  };
}

function valuesOf(
  operands: readonly Run[],
  scope: Scope,
  steps: Steps,
): readonly Value[] | undefined {
  const values: Value[] = [];
  for (const operand of operands) {
    const value = operand(scope, steps);
    if (value === failed) return undefined;
    values.push(value);
  }
  return values;
}

export function listOf(items: readonly Run[]): Run {
  return (scope, steps) => valuesOf(items, scope, steps) ?? failed;
}

export function mapOf(entries: readonly (readonly Run[])[]): Run {
  return (scope, steps) => {
    const map = new MapLiteral();
    for (const pair of entries) {
      const [key, value] = valuesOf(pair, scope, steps) ?? [];
      if (key === undefined || value === undefined) return failed;
      // No list or map is the same as another one, or found by its value.
      const isOwn = Array.isArray(key) || isMapValue(key);
      const name = isOwn ? `o${map.entries.size}` : keyOf(key);
      if (name === undefined) return failed;
      steps.read(name);
      map.entries.set(name, [key, value]);
    }
    return map;
  };
}

/** The first operand that decides; a failure if none does and one failed. */
export function logical(operands: readonly Run[], decisive: boolean): Run {
  return (scope, steps) => {
    let hasFailed = false;
    for (const operand of operands) {
      const result = operand(scope, steps);
      if (result === decisive) return decisive;
      hasFailed ||= result !== !decisive;
    }
    return hasFailed ? failed : !decisive;
  };
}

export function choice([condition, yes, no]: readonly Run[]): Run {
  return (scope, steps) => {
    const chosen = condition?.(scope, steps);
    if (typeof chosen !== 'boolean') return failed;
    return (chosen ? yes : no)?.(scope, steps) ?? null;
  };
}
