import type { JsonObject, JsonValue } from '../../../core/sdk.ts';
import type { NamedItem } from '../overrides/deployment-overrides.ts';
import { isMap, itemsOf, withContainers } from './template-parts.ts';

/**
 * A deployment's spec with these variables in every container: one of the same name is replaced
 * where it stands, others come after those there are. Of two with one name the later counts.
 */
export function withEnvironment(spec: JsonObject, variables: readonly NamedItem[]): JsonObject {
  if (variables.length === 0) return spec;
  const added = new Map(variables.map((variable) => [variable.name, variable]));
  return withContainers(spec, (container) => {
    const written = itemsOf(container['env']);
    const names = new Set(written.map(nameOf));
    const replaced = written.map((variable) => added.get(nameOf(variable) ?? '') ?? variable);
    const appended = [...added.values()].filter(({ name }) => !names.has(name));
    return { ...container, env: [...replaced, ...appended] };
  });
}

function nameOf(variable: JsonValue): string | undefined {
  const name = isMap(variable) ? variable['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}
