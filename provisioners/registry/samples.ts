import { annotation } from '../../api/v1alpha1/labels.ts';
import {
  type JsonObject,
  type JsonValue,
  type KubernetesObject,
  parseJson,
} from '../../core/sdk.ts';
import { fieldOf, groupOf, isMap, itemsOf, objectName } from './bundle/objects.ts';
import type { RegistryBundle } from './bundle/registry-bundle.ts';

/** The required fields of a CRD's custom resources. */
interface Definition {
  readonly kind: string;
  /** By version. */
  readonly schemas: ReadonlyMap<string, JsonValue>;
}

/**
 * Marks custom resources of the bundle's own kinds that are samples, so that they are left out:
 * those in `alm-examples`, and those that lack fields required by their own CRD. Bundles contain
 * them when their kind has the name of a supported one, such as Role; they are not meant to be
 * installed.
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
      : lackOf(object, definition);
    return because === undefined ? object : marked(object, because);
  });
}

function marked(object: KubernetesObject, because: string): KubernetesObject {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [annotation.leftOut]: because };
  return { ...object, metadata: { ...metadata, annotations } };
}

function lackOf(object: KubernetesObject, { kind, schemas }: Definition): string | undefined {
  const version = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1);
  const path = missingField(object as JsonObject, schemas.get(version));
  return path && `its field ${path} is missing, which the bundle's CRD of ${kind} requires`;
}

/** The path of the first missing required field. */
function missingField(
  value: JsonValue | undefined,
  schema: JsonValue | undefined,
): string | undefined {
  if (!isMap(schema)) return undefined;
  if (Array.isArray(value))
    return firstOf(value.entries(), (item) => [`[${item}]`, schema['items']]);
  if (!isMap(value)) return undefined;
  const { properties } = schema;
  const missing = itemsOf(schema['required']).find(
    (name) =>
      typeof name === 'string' && !Object.hasOwn(value, name) && !hasDefault(properties, name),
  );
  if (typeof missing === 'string') return missing;
  return firstOf(Object.entries(value), (name) => [name, fieldOf(properties, name)]);
}

function firstOf<K extends string | number>(
  fields: Iterable<readonly [K, JsonValue | undefined]>,
  schemaOf: (key: K) => readonly [step: string, schema: JsonValue | undefined],
): string | undefined {
  for (const [key, value] of fields) {
    const [step, schema] = schemaOf(key);
    const path = missingField(value, schema);
    if (path !== undefined) return path.startsWith('[') ? `${step}${path}` : `${step}.${path}`;
  }
  return undefined;
}

function hasDefault(properties: JsonValue | undefined, name: string): boolean {
  return fieldOf(fieldOf(properties, name), 'default') !== undefined;
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
    return typeof name === 'string' && schema !== undefined ? [[name, schema] as const] : [];
  });
  return [[`${group}/${kind}`, { kind, schemas: new Map(versions) }]];
}

function kindOf({ apiVersion, kind }: KubernetesObject): string {
  return `${groupOf(apiVersion)}/${kind}`;
}
