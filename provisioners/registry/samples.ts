import { bounded, type JsonSchema, validateObject } from '../../api/object-schema/index.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import {
  type JsonObject,
  type JsonValue,
  type KubernetesObject,
  parseJson,
} from '../../core/sdk.ts';
import { fieldOf, groupOf, isMap, itemsOf, objectName } from './bundle/objects.ts';
import type { RegistryBundle } from './bundle/registry-bundle.ts';

/** The schemas of a CRD's custom resources. */
interface Definition {
  readonly kind: string;
  /** By version. */
  readonly schemas: ReadonlyMap<string, JsonSchema>;
}

/**
 * Marks custom resources of the bundle's own kinds that are samples, so that they are left out:
 * those in `alm-examples`, and those that do not fit the schema of their own CRD, which the API
 * server would refuse. Bundles contain them when their kind has the name of a supported one, such
 * as Role; they are not meant to be installed.
 */
export function markSamples(
  objects: readonly KubernetesObject[],
  { crds, csv }: RegistryBundle,
): readonly KubernetesObject[] {
  const definitions = new Map(crds.flatMap(definitionOf));
  if (definitions.size === 0) return objects;
  let examples: ReadonlySet<string> | undefined;
  return objects.map((object) => {
    const definition = definitions.get(kindOf(object));
    if (definition === undefined) return object;
    examples ??= exampleNames(csv.annotations['alm-examples']);
    const because = examples.has(`${kindOf(object)}/${objectName(object)}`)
      ? 'it is a sample, which the ClusterServiceVersion has in alm-examples'
      : misfit(object, definition);
    return because === undefined ? object : marked(object, because);
  });
}

function marked(object: KubernetesObject, because: string): KubernetesObject {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [annotation.leftOut]: because };
  return { ...object, metadata: { ...metadata, annotations } };
}

/** The first problem of the object by the schema of its CRD; undefined when it fits. */
function misfit(object: KubernetesObject, { kind, schemas }: Definition): string | undefined {
  const schema = schemas.get(object.apiVersion.slice(object.apiVersion.indexOf('/') + 1));
  const text = schema && problemOf(object as JsonObject, schema);
  // Texts begin with the root, `[]`.
  return text && `it does not fit the bundle's CRD of ${kind}: ${text.replace(/^\[\]\.?/, '')}`;
}

function problemOf(object: JsonValue, schema: JsonSchema): string | undefined {
  try {
    return bounded(() => validateObject(object, schema)).texts[0];
  } catch {
    // A schema that takes too long, or has an unreadable pattern: the API server judges the object.
    return undefined;
  }
}

function exampleNames(text: string | undefined): ReadonlySet<string> {
  let examples: JsonValue = [];
  try {
    examples = parseJson(text ?? '[]');
  } catch {
    // Unreadable examples mark nothing; the bundle is installed nevertheless.
  }
  const names = itemsOf(examples).flatMap((example) => {
    const [apiVersion, kind] = [fieldOf(example, 'apiVersion'), fieldOf(example, 'kind')];
    const name = fieldOf(fieldOf(example, 'metadata'), 'name');
    if (typeof kind !== 'string' || typeof name !== 'string') return [];
    return [`${groupOf(apiVersion)}/${kind}/${name}`];
  });
  return new Set(names);
}

function definitionOf(crd: KubernetesObject): readonly (readonly [string, Definition])[] {
  const spec = fieldOf(crd as JsonObject, 'spec');
  const names = fieldOf(spec, 'names');
  const [group, kind] = [fieldOf(spec, 'group'), fieldOf(names, 'kind')];
  if (typeof group !== 'string' || typeof kind !== 'string') return [];
  const versions = itemsOf(fieldOf(spec, 'versions')).flatMap((version) => {
    const name = fieldOf(version, 'name');
    const schema = fieldOf(fieldOf(version, 'schema'), 'openAPIV3Schema');
    return typeof name === 'string' && isMap(schema) ? [[name, schema] as const] : [];
  });
  return [[`${group}/${kind}`, { kind, schemas: new Map(versions) }]];
}

function kindOf({ apiVersion, kind }: KubernetesObject): string {
  return `${groupOf(apiVersion)}/${kind}`;
}
