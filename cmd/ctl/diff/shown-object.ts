import { isDeepStrictEqual } from 'node:util';
import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  isSecret,
  mask,
  type ObjectStates,
  secretFields,
  wantedContent,
  withoutCopy,
} from '../../../core/apply/index.ts';
import { toYaml } from '../../../core/manifests/index.ts';

/** Both states as YAML, without what is the server's and without the values of Secrets. */
export function shownObject(states: ObjectStates): {
  readonly before: string;
  readonly after: string;
} {
  const { before, after } = maskSecrets({
    before: states.before && wantedContent(states.before),
    after: states.after && wantedContent(states.after),
  });
  return { before: yamlOf(before), after: yamlOf(after) };
}

function yamlOf(object: KubernetesObject | undefined): string {
  // Without the line that begins a document.
  return object === undefined ? '' : toYaml([object]).replace(/^---\n/, '');
}

/** As kubectl diff masks them: `***` for each value, with a word where the two differ. */
function maskSecrets({ before, after }: ObjectStates): ObjectStates {
  const example = before ?? after;
  if (example === undefined || !isSecret(example)) return { before, after };
  return { before: masked(before, after, 'before'), after: masked(after, before, 'after') };
}

function masked(
  object: KubernetesObject | undefined,
  other: KubernetesObject | undefined,
  side: 'before' | 'after',
): KubernetesObject | undefined {
  if (object === undefined) return undefined;
  const hidden = { ...object, metadata: withoutCopy(object.metadata) };
  for (const field of secretFields) {
    if (object[field] === undefined) continue;
    const others = mapOf(other?.[field]);
    const values = Object.entries(mapOf(object[field])).map(([key, value]) => {
      const differs = Object.hasOwn(others, key) && !isDeepStrictEqual(others[key], value);
      return [key, differs ? `${mask} (${side})` : mask];
    });
    Object.assign(hidden, { [field]: Object.fromEntries(values) });
  }
  return hidden;
}
