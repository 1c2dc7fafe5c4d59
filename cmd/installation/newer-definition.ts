import { installerLabel } from '../../api/crd/custom-resource-definition.ts';
import { fieldAt, listOf, mapOf, stringAt } from '../../api/json-fields.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { definitionResource, type KubeClient, liveObject } from '../../core/platform/kube/index.ts';
import { shortList } from '../../core/short-list.ts';

/**
 * Why an installation would go back to an earlier version of a CRD; undefined when it does not. The
 * API server drops fields that the schema lacks from every object, such as spec.deletionPolicy.
 */
export async function newerDefinition(
  client: Pick<KubeClient, 'get'>,
  manifests: readonly KubernetesObject[],
): Promise<string | undefined> {
  for (const manifest of manifests.filter(({ kind }) => kind === definitionResource.kind)) {
    const { name = '' } = manifest.metadata;
    const live = await liveObject(client, { resource: definitionResource, key: { name } });
    const lost = live !== undefined && isOurs(live) ? fieldsBeside(manifest, live) : [];
    if (lost.length === 0) continue;
    return `CustomResourceDefinition "${name}" is of a newer version: it also has ${shortList(lost, 5)}, which the API server would drop from all objects. Install with that version; to go back nevertheless, first run kubectl apply --server-side --force-conflicts with the CRDs of this version`;
  }
  return undefined;
}

/** Other projects have the CRDs of OLM 1.0 as well, and an installation replaces theirs. */
export function isOurs({ metadata, spec }: KubernetesObject): boolean {
  return (
    stringAt(spec, 'group') === bundleDeploymentResource.group ||
    metadata.labels?.[installerLabel.key] === installerLabel.value
  );
}

/** Fields of the spec that a CRD has, and `other` lacks; users write no others. */
function fieldsBeside(other: KubernetesObject, definition: KubernetesObject): readonly string[] {
  return listOf(fieldAt(definition['spec'], 'versions')).flatMap((version) => {
    const name = stringAt(version, 'name');
    const known = new Set(fieldPaths(schemaOf(other, name)));
    return fieldPaths(fieldAt(version, 'schema', 'openAPIV3Schema')).filter(
      (path) => path.startsWith('spec.') && !known.has(path),
    );
  });
}

/** The schema of a version of a CRD. */
export function schemaOf({ spec }: KubernetesObject, name: string | undefined): unknown {
  const version = listOf(fieldAt(spec, 'versions')).find(
    (candidate) => stringAt(candidate, 'name') === name,
  );
  return fieldAt(version, 'schema', 'openAPIV3Schema');
}

/** The paths of all fields of a schema, such as `spec.prune.when`. */
export function fieldPaths(schema: unknown, path = ''): readonly string[] {
  const properties = Object.entries(mapOf(fieldAt(schema, 'properties')));
  const inner = [fieldAt(schema, 'items'), fieldAt(schema, 'additionalProperties')];
  return [
    ...properties.flatMap(([name, child]) => {
      const below = path === '' ? name : `${path}.${name}`;
      return [below, ...fieldPaths(child, below)];
    }),
    ...inner.flatMap((child) => (child === undefined ? [] : fieldPaths(child, path))),
  ];
}
