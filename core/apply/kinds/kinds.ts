import { type GroupVersionKind, gvkOf } from '../../../api/gvk.ts';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { type Discovery, type Resource } from '../../platform/kube/index.ts';
import { isOptional } from '../objects/desired.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { isDefinition } from '../objects/order.ts';

/** The resources of every kind of a set, or sentences about unknown kinds. */
export interface ResolvedKinds {
  /** By apiVersion and kind, as `kindKey` writes them. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** Keys of kinds that exist only after the set's own CRDs are established. */
  readonly fromBundle: ReadonlySet<string>;
  /** Resources that are served already, possibly in another version. */
  readonly present: ReadonlyMap<string, Resource>;
  /** Kinds of optional objects that the cluster does not serve. */
  readonly omitted: readonly GroupKind[];
  /** One per object of another unknown kind. */
  readonly problems: readonly string[];
}

export function kindKey(object: Pick<KubernetesObject, 'apiVersion' | 'kind'>): string {
  return `${object.apiVersion}|${object.kind}`;
}

/** Finds every kind, in the cluster or in the CRDs of the set itself. */
export async function resolveKinds(
  objects: readonly KubernetesObject[],
  discovery: Discovery,
  signal: AbortSignal,
): Promise<ResolvedKinds> {
  const known = await lookUp(objects, discovery, signal);
  if (known.problems.length === 0 && known.fromBundle.size === 0) return known;
  // A CRD may be newer than cached discovery.
  discovery.invalidate();
  return await lookUp(objects, discovery, signal);
}

async function lookUp(
  objects: readonly KubernetesObject[],
  discovery: Discovery,
  signal: AbortSignal,
): Promise<ResolvedKinds> {
  const definitions = objects.filter((object) => isDefinition(gvkOf(object)));
  const resources = new Map<string, Resource>();
  const present = new Map<string, Resource>();
  const fromBundle = new Set<string>();
  const examples = new Map(objects.map((object) => [kindKey(object), object]));
  for (const [key, object] of examples) {
    const gvk = gvkOf(object);
    const served = await discovery.resourceFor(gvk, signal);
    const resource = served ?? definedResource(gvk, definitions);
    if (resource !== undefined) resources.set(key, resource);
    if (served === undefined && resource !== undefined) fromBundle.add(key);
    const readable = served ?? (await discovery.resourceForGroupKind(gvk.group, gvk.kind, signal));
    if (readable !== undefined) present.set(key, readable);
  }
  const unknown = objects.filter((object) => !resources.has(kindKey(object)));
  const omitted = unknown.filter(isOptional).map(gvkOf);
  const problems = unknown.filter((object) => !isOptional(object)).map(noMatch);
  return { resources, fromBundle, present, omitted: distinct(omitted), problems };
}

function distinct(kinds: readonly GroupKind[]): readonly GroupKind[] {
  return [
    ...new Map(kinds.map(({ group, kind }) => [`${kind}.${group}`, { group, kind }])).values(),
  ];
}

/** The resource that one of these CRDs defines for a kind in a served version. */
function definedResource(
  gvk: GroupVersionKind,
  definitions: readonly KubernetesObject[],
): Resource | undefined {
  for (const { spec } of definitions) {
    const plural = stringAt(spec, 'names', 'plural');
    if (plural === undefined || stringAt(spec, 'group') !== gvk.group) continue;
    if (stringAt(spec, 'names', 'kind') !== gvk.kind) continue;
    const served = listOf(fieldAt(spec, 'versions')).some(
      (version) => stringAt(version, 'name') === gvk.version && fieldAt(version, 'served') === true,
    );
    if (served) return { ...gvk, plural, namespaced: stringAt(spec, 'scope') === 'Namespaced' };
  }
  return undefined;
}

function noMatch(object: KubernetesObject): string {
  const { name, namespace } = object.metadata;
  return (
    `resource mapping not found for name: "${shown(name)}" namespace: "${shown(namespace)}" ` +
    `from "": no matches for kind "${shown(object.kind)}" in version "${shown(object.apiVersion)}"\n` +
    'ensure CRDs are installed first'
  );
}

/**
 * Escapes and shortens: the names come from untrusted content, and one message may have thousands
 * of them.
 */
function shown(text = ''): string {
  return text.slice(0, 300);
}
