import { isDeepStrictEqual } from 'node:util';
import { gvkOf } from '../../../api/gvk.ts';
import type { JsonValue } from '../../../api/json.ts';
import { fieldAt, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import { knownGroups } from '../../../api/kubernetes-kinds.ts';
import { bounded, type JsonSchema, validateObject } from '../../../api/object-schema/index.ts';
import {
  contentProblem,
  isDefinition,
  stageOrderProblems,
} from '../../../core/apply/content-rules.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import { shortList } from '../../../core/short-list.ts';
import type { LocatedObject } from '../bundle-content.ts';
import { error, type Finding, warning } from '../problem.ts';
import type { FieldPlace } from '../source-lines.ts';
import { builtInKinds } from './built-in-kinds.ts';

/** Finds errors of a bundle's objects that otherwise show only when core applies them. Pure. */
type ObjectRule = (objects: readonly LocatedObject[]) => readonly Finding[];

/** Rules for every class; a class reports its own errors itself. */
export const objectRules: readonly ObjectRule[] = [
  missingApiVersion,
  unusableNames,
  repeatedObjects,
  lateFoundations,
  builtInKinds,
];

/** Rules for objects that a class has made, which lie in no file. */
export const renderedObjectRules: readonly ObjectRule[] = [
  missingApiVersion,
  unusableNames,
  builtInKinds,
];

/** Rules for classes that keep the namespaces of the manifests. */
export const plainObjectRules: readonly ObjectRule[] = [
  ...objectRules,
  formerDefinitions,
  columnFields,
  unfitResources,
  foreignNamespaces,
];

function missingApiVersion(objects: readonly LocatedObject[]): readonly Finding[] {
  return objects
    .filter(({ object }) => object.apiVersion === '')
    .map((located) =>
      error({
        place: fieldPlace(located),
        message: `${describe(located.object)} has no apiVersion`,
        fix: `add it, for example "apiVersion: ${apiVersionFor(located.object.kind)}"`,
      }),
    );
}

function apiVersionFor(kind: string): string {
  const group = knownGroups.find(({ namespaced = '', clusterScoped = '' }) =>
    `${namespaced} ${clusterScoped}`.split(' ').includes(kind),
  )?.group;
  return group === undefined || group === '' ? 'v1' : `${group}/v1`;
}

/** The result is the same for any deployment: none has an empty name. */
const anyDeployment: KubernetesObject = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: '' },
};

function unusableNames(objects: readonly LocatedObject[]): readonly Finding[] {
  return objects.flatMap((located) => {
    const message = contentProblem(located.object, anyDeployment);
    const place = fieldPlace(located, 'metadata');
    return message === undefined ? [] : [error({ place, message, fix: 'correct its metadata' })];
  });
}

function formerDefinitions(objects: readonly LocatedObject[]): readonly Finding[] {
  return objects
    .filter(({ object }) => isDefinition(gvkOf(object)) && gvkOf(object).version === 'v1beta1')
    .map((located) =>
      error({
        place: fieldPlace(located, 'apiVersion'),
        message: `${describe(located.object)} is of apiextensions.k8s.io/v1beta1, which no cluster since Kubernetes 1.22 serves`,
        fix: 'write it as apiextensions.k8s.io/v1, with a structural schema',
      }),
    );
}

function repeatedObjects(objects: readonly LocatedObject[]): readonly Finding[] {
  const groups = Map.groupBy(objects, ({ object }) => identityOf(object));
  return [...groups.values()].flatMap((group): Finding[] => {
    const [first, ...rest] = group;
    const last = rest.at(-1);
    if (first === undefined || last === undefined || first.object.metadata.name === undefined) {
      return [];
    }
    const files = [...new Set(group.map(({ file }) => file))].join(' and ');
    const same = group.every(({ object }) => isDeepStrictEqual(object, first.object));
    return [
      warning({
        place: fieldPlace(last, 'metadata', 'name'),
        message: `${describe(first.object)} is there ${group.length} times (${files})`,
        fix: same ? 'keep one of them' : 'keep one of them: they differ, and the last one wins',
      }),
    ];
  });
}

/** Namespaces and CRDs in a later stage than objects that need them. */
function lateFoundations(objects: readonly LocatedObject[]): readonly Finding[] {
  const placed = objects
    .filter(({ object }) => contentProblem(object, anyDeployment) === undefined)
    .map((located) => {
      const { name = '', namespace } = located.object.metadata;
      return { ...located, resource: gvkOf(located.object), key: { name, namespace } };
    });
  return stageOrderProblems(placed).map(({ subject, message }) =>
    error({ place: fieldPlace(subject, 'metadata'), message, fix: 'a higher number comes later' }),
  );
}

/** Finds `JSONPath` of v1beta1. The registry class corrects it, as it is common in operators. */
function columnFields(objects: readonly LocatedObject[]): readonly Finding[] {
  return objects
    .filter(({ object }) => isDefinition(gvkOf(object)) && gvkOf(object).version === 'v1')
    .flatMap((located) => {
      const versions = listOf(fieldAt(located.object['spec'], 'versions'));
      return versions.flatMap((version, index) =>
        listOf(fieldAt(version, 'additionalPrinterColumns')).flatMap((column, number) => {
          if (!Object.hasOwn(mapOf(column), 'JSONPath')) return [];
          const path = ['spec', 'versions', index, 'additionalPrinterColumns', number, 'JSONPath'];
          const message = `${describe(located.object)} has a printer column with JSONPath, which the API server does not know`;
          return [
            error({ place: { ...fieldPlace(located), path }, message, fix: 'write jsonPath' }),
          ];
        }),
      );
    });
}

/** Namespaces that every cluster has. */
const present: ReadonlySet<string> = new Set(['', 'default', 'kube-system', 'kube-public']);

function foreignNamespaces(objects: readonly LocatedObject[]): readonly Finding[] {
  const made = new Set(
    objects
      .filter(({ object }) => object.apiVersion === 'v1' && object.kind === 'Namespace')
      .map(({ object }) => object.metadata.name),
  );
  const strangers = objects.filter(({ object: { metadata } }) => {
    const { namespace = '' } = metadata;
    return typeof namespace === 'string' && !present.has(namespace) && !made.has(namespace);
  });
  const groups = Map.groupBy(strangers, ({ object }) => object.metadata.namespace ?? '');
  return [...groups].map(([namespace, group]) =>
    warning({
      ...(group[0] && { place: fieldPlace(group[0], 'metadata', 'namespace') }),
      message: `namespace "${namespace}" is not in the bundle (${group.length} of its objects are to go there)`,
      fix: 'make it before the bundle is installed, or add it to the bundle',
    }),
  );
}

function fieldPlace({ file, document }: LocatedObject, ...path: readonly string[]): FieldPlace {
  return { file, document, path };
}

function identityOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const { group } = gvkOf({ apiVersion, kind });
  return JSON.stringify([group, kind, metadata.namespace ?? '', metadata.name ?? '']);
}

function describe({ kind, metadata: { name, namespace } }: KubernetesObject): string {
  const path = [namespace, name].filter(Boolean).join('/');
  return `${kind} "${path}"`;
}

const listedTexts = 5;

/** Custom resources that the API server rejects by the schema of the bundle's own CRD. Pure. */
export function unfitResources(objects: readonly LocatedObject[]): readonly Finding[] {
  const schemas = new Map(objects.flatMap(schemasOf));
  return objects.flatMap((located): readonly Finding[] => {
    const { object, file, document } = located;
    const own = schemas.get(`${object.apiVersion} ${object.kind}`);
    const message = own === undefined ? undefined : unfit(object as JsonValue, own);
    if (message === undefined) return [];
    const what = `${object.kind} "${object.metadata.name ?? ''}" does not fit the bundle's own CRD`;
    const place = { file, document, path: [] };
    return [error({ place, message: `${what}: ${message}`, fix: 'correct it, or remove it' })];
  });
}

function unfit(object: JsonValue, schema: JsonSchema): string | undefined {
  try {
    const { texts } = bounded(() => validateObject(object, schema));
    // Each text begins with the root, `[]`.
    const shown = texts.map((text) => text.replace(/^\[\]\.?/, ''));
    return shown.length === 0 ? undefined : shortList(shown, listedTexts);
  } catch (problem) {
    return `it cannot be checked: ${errorMessage(problem)}`;
  }
}

function schemasOf({ object }: LocatedObject): readonly (readonly [string, JsonSchema])[] {
  if (!isDefinition(gvkOf(object))) return [];
  const group = stringAt(object['spec'], 'group') ?? '';
  const kind = stringAt(fieldAt(object['spec'], 'names'), 'kind') ?? '';
  return listOf(fieldAt(object['spec'], 'versions')).flatMap((version) => {
    const schema = fieldAt(version, 'schema', 'openAPIV3Schema');
    if (typeof schema !== 'object' || schema === null) return [];
    return [[`${group}/${stringAt(version, 'name') ?? ''} ${kind}`, schema] as const];
  });
}
