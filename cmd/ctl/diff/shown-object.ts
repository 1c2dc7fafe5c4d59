import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../../api/meta.ts';
import { mapOf } from '../../../core/apply/json-fields.ts';
import { toYaml } from '../../../core/manifests/write-yaml.ts';

/** Two states of one object as they may be shown; undefined where it does not exist. */
export interface ObjectStates {
  readonly before: KubernetesObject | undefined;
  readonly after: KubernetesObject | undefined;
}

/** The API server's own: they change without anybody wanting it. */
const serverFields: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** Has a copy of the whole object in it, of a Secret too. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Both states as YAML, without what is the server's and without the values of Secrets. */
export function shownObject(states: ObjectStates): {
  readonly before: string;
  readonly after: string;
} {
  const { before, after } = maskSecrets({
    before: shown(states.before),
    after: shown(states.after),
  });
  return { before: yamlOf(before), after: yamlOf(after) };
}

function shown(object: KubernetesObject | undefined): KubernetesObject | undefined {
  if (object === undefined) return undefined;
  const { status: _, ...content } = object;
  const metadata = Object.entries(content.metadata).filter(([field]) => !serverFields.has(field));
  return { ...content, metadata: Object.fromEntries(metadata) };
}

function yamlOf(object: KubernetesObject | undefined): string {
  // Without the line that begins a document.
  return object === undefined ? '' : toYaml([object]).replace(/^---\n/, '');
}

/** As kubectl diff masks them: `***` for each value, with a word where the two differ. */
function maskSecrets({ before, after }: ObjectStates): ObjectStates {
  const example = before ?? after;
  if (example?.kind !== 'Secret' || example.apiVersion !== 'v1') return { before, after };
  return { before: masked(before, after, 'before'), after: masked(after, before, 'after') };
}

function masked(
  object: KubernetesObject | undefined,
  other: KubernetesObject | undefined,
  side: 'before' | 'after',
): KubernetesObject | undefined {
  if (object === undefined) return undefined;
  const hidden = { ...object, metadata: withoutCopy(object.metadata) };
  for (const field of ['data', 'stringData']) {
    if (object[field] === undefined) continue;
    const others = mapOf(other?.[field]);
    const values = Object.entries(mapOf(object[field])).map(([key, value]) => {
      const differs = Object.hasOwn(others, key) && !isDeepStrictEqual(others[key], value);
      return [key, differs ? `*** (${side})` : '***'];
    });
    Object.assign(hidden, { [field]: Object.fromEntries(values) });
  }
  return hidden;
}

function withoutCopy(metadata: KubernetesObject['metadata']): KubernetesObject['metadata'] {
  const { annotations, ...rest } = metadata;
  if (annotations === undefined) return metadata;
  const { [lastApplied]: copy, ...kept } = annotations;
  return copy === undefined ? metadata : { ...rest, annotations: kept };
}
