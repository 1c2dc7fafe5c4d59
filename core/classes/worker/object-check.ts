import type { JsonObject, JsonValue } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { TerminalError } from '../../errors.ts';
import { checkMetadata, isJsonObject } from '../../manifests/index.ts';

/** Which of the objects of a result. */
export interface ObjectPlace {
  /** Who returned it: `class "acme"`. */
  readonly callee: string;
  /** From 0. */
  readonly index: number;
}

/**
 * A handler's object with the types that its readers count on.
 * @throws TerminalError that names class and object.
 */
export function checkObject(value: unknown, place: ObjectPlace): KubernetesObject {
  if (!isJsonObject(value as JsonValue)) throw unfit(place, 'is no object');
  const object = value as JsonObject;
  const { kind, apiVersion, metadata } = object;
  if (typeof kind !== 'string' || kind === '') throw unfit(place, 'has no kind');
  const named = { ...place, kind };
  if (typeof apiVersion !== 'string') throw unfit(named, 'has no apiVersion');
  if (!isJsonObject(metadata)) throw unfit(named, 'has no metadata');
  const problem = checkMetadata(object);
  if (problem !== undefined) throw unfit(named, `cannot be applied: ${problem}`);
  return object as unknown as KubernetesObject;
}

export function unfit(
  { callee, index, kind }: ObjectPlace & { readonly kind?: string },
  problem: string,
): TerminalError {
  const named = kind === undefined ? '' : ` (${kind.slice(0, 100)})`;
  return new TerminalError(
    `object ${index + 1}${named} of what ${callee} made of the bundle ${problem}`,
  );
}
