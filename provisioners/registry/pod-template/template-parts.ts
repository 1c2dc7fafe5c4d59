import type { JsonObject, JsonValue } from '../../../core/sdk.ts';

/**
 * A deployment's spec with another pod template. What is no map, as a CSV may have it, stays as
 * written, here and below: the API server says what is wrong with it.
 */
export function withTemplate(
  spec: JsonObject,
  change: (template: JsonObject) => JsonObject,
): JsonObject {
  return withPart(spec, 'template', change);
}

/** A deployment's spec with another pod spec. */
export function withPodSpec(
  spec: JsonObject,
  change: (podSpec: JsonObject) => JsonObject,
): JsonObject {
  return withTemplate(spec, (template) => withPart(template, 'spec', change));
}

/** A deployment's spec with each container changed; init containers are none of them, as in OLM. */
export function withContainers(
  spec: JsonObject,
  change: (container: JsonObject) => JsonObject,
): JsonObject {
  return withPodSpec(spec, (podSpec) => {
    const { containers } = podSpec;
    if (!isList(containers)) return podSpec;
    return {
      ...podSpec,
      containers: containers.map((each) => (isMap(each) ? change(each) : each)),
    };
  });
}

/** The items of a list; none where it is absent or something else. */
export function itemsOf(list: JsonValue | undefined): readonly JsonValue[] {
  return isList(list) ? list : [];
}

export function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function withPart(
  whole: JsonObject,
  key: string,
  change: (part: JsonObject) => JsonObject,
): JsonObject {
  const part = whole[key];
  return isMap(part) ? { ...whole, [key]: change(part) } : whole;
}
