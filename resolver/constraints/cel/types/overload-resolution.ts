import { instantiated, overloads } from './standard-library.ts';
import { commonType, type Type, typeText } from './types.ts';
import type { Unifier } from './unifier.ts';

/** A call of a function or operator. */
export interface Call {
  readonly name: string;
  /** Of the target of a member call, and of the arguments. */
  readonly types: readonly Type[];
  readonly isMember?: boolean;
}

/**
 * The result of the overload that fits; `dyn` when several do that differ in it; a text for none.
 * @param hasMacro whether a macro comes before the call
 */
export function resultOf(call: Call, unifier: Unifier, hasMacro: boolean): Type | string {
  const { name, types, isMember = false } = call;
  const known = overloads.get(name);
  if (known === undefined) return undeclared(name);
  const candidates = known.filter(
    (each) => each.isMember === isMember && (hasMacro || !each.isAfterMacro),
  );
  let result: Type | undefined;
  for (const overload of candidates) {
    const wanted = instantiated(overload, unifier);
    if (!unifier.fit(types, wanted.parameters)) continue;
    const found = unifier.resolve(wanted.result);
    result = result === undefined ? found : commonType(result, found);
  }
  return result ?? noOverload(call, unifier);
}

function noOverload({ name, types, isMember = false }: Call, unifier: Unifier): string {
  const texts = types.map((type) => typeText(unifier.resolve(type, 'dyn')));
  const receiver = isMember ? `${texts.shift() ?? ''}.` : '';
  return `found no matching overload for '${name}' applied to '${receiver}(${texts.join(', ')})'`;
}

export function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}
