import { type Fields, isFields } from './fields.ts';
import { type Item, identityOf } from './item.ts';
import { quoted } from './quoted.ts';
import type { Value } from './value.ts';

const podSpecs: Readonly<Record<string, string>> = {
  'v1 Pod': 'spec',
  'apps/v1 DaemonSet': 'spec/template/spec',
  'apps/v1 Deployment': 'spec/template/spec',
  'apps/v1 ReplicaSet': 'spec/template/spec',
  'apps/v1 StatefulSet': 'spec/template/spec',
  'batch/v1 Job': 'spec/template/spec',
  'batch/v1 CronJob': 'spec/jobTemplate/spec/template/spec',
};

/** The lists of a pod that a patch may have: merged by a field of their items, or taken whole. */
const lists: readonly (readonly [path: RegExp, key: string | undefined])[] = [
  [/^(containers|initContainers|volumes)$/, 'name'],
  [/^(containers|initContainers)\/env$/, 'name'],
  [/^(containers|initContainers)\/volumeMounts$/, 'mountPath'],
  [/^(containers|initContainers)\/(command|args)$/, undefined],
];

/** Merges a patch into an object: maps field by field, null removes, lists as far as they are known. */
export function mergePatch(item: Item, patch: Fields, entry: Value): void {
  const { apiVersion, kind } = identityOf(item);
  const podSpec = podSpecs[`${apiVersion} ${kind}`];
  merge(item.object, patch, { path: '', podSpec, entry });
}

interface Place {
  readonly path: string;
  readonly podSpec: string | undefined;
  readonly entry: Value;
}

function merge(target: Fields, patch: Fields, place: Place): Fields {
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$') || name === '__proto__')
      throw place.entry.refused(`has the directive ${quoted(name)}: use a JSON patch`);
    const at = { ...place, path: place.path === '' ? name : `${place.path}/${name}` };
    if (value === null) delete target[name];
    else target[name] = merged(target[name], value, at);
  }
  return target;
}

function merged(target: unknown, patch: unknown, place: Place): unknown {
  const present = target ?? undefined;
  if (present !== undefined && shapeOf(present) !== shapeOf(patch))
    throw place.entry.refused(
      `has at ${quoted(place.path)} ${shapeOf(patch)} for ${shapeOf(present)}`,
    );
  if (isFields(patch)) return merge(isFields(present) ? present : {}, patch, place);
  if (!Array.isArray(patch)) return patch;
  const key = keyOf(place);
  if (key === undefined) return patch;
  return mergeLists(Array.isArray(present) ? present : [], patch, { ...place, key });
}

function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return isFields(value) ? 'a map' : 'a value';
}

/** What the patch names comes first, in its order: so does kustomize. */
function mergeLists(
  target: unknown[],
  patch: unknown[],
  place: Place & { key: string },
): unknown[] {
  const { key, entry } = place;
  const keyIn = (item: unknown) => (isFields(item) ? item[key] : undefined);
  const named = new Set<unknown>();
  const first = patch.map((item) => {
    const name = keyIn(item);
    if (typeof name !== 'string' || named.has(name))
      throw entry.refused(
        `has an item of ${quoted(place.path)} without a ${quoted(key)} of its own`,
      );
    named.add(name);
    return merged(
      target.find((other) => keyIn(other) === name),
      item,
      place,
    );
  });
  return [...first, ...target.filter((item) => !named.has(keyIn(item)))];
}

function keyOf({ path, podSpec, entry }: Place): string | undefined {
  const inPod =
    podSpec !== undefined && path.startsWith(`${podSpec}/`) ? path.slice(podSpec.length + 1) : '';
  const list = lists.find(([pattern]) => pattern.test(inPod));
  if (list === undefined)
    throw entry.refused(
      `has the list ${quoted(path)}, which this class does not merge: use a JSON patch`,
    );
  return list[1];
}
