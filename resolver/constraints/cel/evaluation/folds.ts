import type { Steps } from './steps.ts';
import { failed, type Result, type Value } from './values.ts';

/** Variables in scope, the innermost first. */
export type Scope =
  | { readonly name: string; readonly value: Value; readonly outer: Scope }
  | undefined;

/** A part of an expression. */
export type Run = (scope: Scope, steps: Steps) => Result;

/** A macro, over the items of a list or the keys of a map. */
export type Fold = (items: readonly Value[], scope: Scope, steps: Steps) => Result;
/** A part of a macro, for one of its items. */
export type Each = (value: Value, scope: Scope, steps: Steps) => Result;

export const always: Each = () => true;
export const itself: Each = (value) => value;

export function forEach(name: string, run: Run): Each {
  return (value, outer, steps) => run({ name, value, outer }, steps);
}

/** `all`, or `exists`: the first result that decides; a failure if none does and one failed. */
export function quantified(predicate: Each, decisive: boolean): Fold {
  return (items, scope, steps) => {
    let hasFailed = false;
    for (const item of items) {
      const result = predicate(item, scope, steps);
      if (result === decisive) return decisive;
      hasFailed ||= result !== !decisive;
    }
    return hasFailed ? failed : !decisive;
  };
}

/** `map` and `filter`: what is made of the items that are wanted. */
export function collected(isWanted: Each, made: Each): Fold {
  return (items, scope, steps) => {
    const found: Value[] = [];
    steps.take(items.length);
    for (const item of items) {
      const wanted = isWanted(item, scope, steps);
      if (typeof wanted !== 'boolean') return failed;
      const value = wanted ? made(item, scope, steps) : undefined;
      if (value === failed) return failed;
      if (value !== undefined) found.push(value);
    }
    return found;
  };
}

export function exactlyOne(predicate: Each): Fold {
  const found = collected(predicate, itself);
  return (...over) => {
    const list = found(...over);
    return list === failed ? failed : (list as readonly Value[]).length === 1;
  };
}
