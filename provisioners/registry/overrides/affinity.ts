import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import { isMap } from '../pod-template/template-parts.ts';

const kinds = ['nodeAffinity', 'podAffinity', 'podAntiAffinity'] as const;

/**
 * A pod spec with its affinity overridden kind by kind: what is not named stays, an empty one is
 * taken away, and an empty affinity takes away all three.
 */
export function withAffinity(podSpec: JsonObject, added: JsonObject): JsonObject {
  const written = isMap(podSpec['affinity']) ? podSpec['affinity'] : {};
  const merged = isEmpty(added) ? {} : mergedAffinity(written, added);
  const { affinity: _, ...rest } = podSpec;
  return isEmpty(merged) ? rest : { ...rest, affinity: merged };
}

function mergedAffinity(written: JsonObject, added: JsonObject): JsonObject {
  const replaced = kinds.flatMap((kind) => {
    const value = added[kind] ?? written[kind];
    return isEmpty(value) ? [] : [[kind, value] as const];
  });
  return Object.fromEntries(replaced);
}

/** Says nothing: absent, or a map of such. */
function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  return isMap(value) && Object.values(value).every((each) => each === undefined || each === null);
}
