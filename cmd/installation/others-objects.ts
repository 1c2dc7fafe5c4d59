import { fieldAt, isMap, listOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  definitionResource,
  type KubeClient,
  listAll,
  liveObject,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { shortList } from '../../core/short-list.ts';
import { isOurs, schemaOf } from './newer-definition.ts';

/**
 * Why an installation would take fields from objects: it replaces the CRDs of OLM 1.0 that another
 * project has installed, and the API server drops what the schema lacks. Undefined when no object
 * has such a field.
 */
export async function othersObject(
  client: Pick<KubeClient, 'get' | 'list'>,
  manifests: readonly KubernetesObject[],
): Promise<string | undefined> {
  for (const manifest of manifests.filter(({ kind }) => kind === definitionResource.kind)) {
    const { name = '' } = manifest.metadata;
    const live = await liveObject(client, { resource: definitionResource, key: { name } });
    const resource = live === undefined || isOurs(live) ? undefined : servedKind(manifest, live);
    if (resource === undefined) continue;
    const schema = fieldAt(schemaOf(manifest, resource.version), 'properties', 'spec');
    const transform = (object: KubernetesObject) => ({
      text: `${resource.kind} "${object.metadata.name}"`,
      lost: [...new Set(fieldsBeside(schema, object['spec'], 'spec'))],
    });
    const { items } = await listAll(client, resource, { transform });
    const found = items.find(({ lost }) => lost.length > 0);
    if (found === undefined) continue;
    return `CustomResourceDefinition "${name}" is of another project, and ${found.text} has ${shortList(found.lost, 5)}, which the API server would drop. Remove it from the object, or first run kubectl apply --server-side --force-conflicts with the CRDs of this version`;
  }
  return undefined;
}

/** The kind in a version that both CRDs have; the API server refuses to replace one without any. */
function servedKind(manifest: KubernetesObject, live: KubernetesObject): Resource | undefined {
  const served = servedVersions(live);
  const version = servedVersions(manifest).find((each) => served.includes(each));
  if (version === undefined) return undefined;
  const textAt = (...path: readonly string[]) => stringAt(manifest['spec'], ...path) ?? '';
  return {
    group: textAt('group'),
    version,
    kind: textAt('names', 'kind'),
    plural: textAt('names', 'plural'),
    namespaced: false,
  };
}

function servedVersions({ spec }: KubernetesObject): readonly string[] {
  return listOf(fieldAt(spec, 'versions'))
    .filter((version) => fieldAt(version, 'served') === true)
    .flatMap((version) => stringAt(version, 'name') ?? []);
}

/** The paths of the fields of a value that its schema does not know, such as `spec.prune.when`. */
function fieldsBeside(schema: unknown, value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => fieldsBeside(fieldAt(schema, 'items'), item, path));
  }
  if (!isMap(value)) return [];
  const isOpen = fieldAt(schema, 'x-kubernetes-preserve-unknown-fields') === true;
  return Object.entries(value).flatMap(([name, child]) => {
    const below = `${path}.${name}`;
    const known = fieldAt(schema, 'properties', name) ?? fieldAt(schema, 'additionalProperties');
    if (known !== undefined) return fieldsBeside(known, child, below);
    return isOpen ? [] : [below];
  });
}
