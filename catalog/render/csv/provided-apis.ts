import { compareBytes } from '../../../api/byte-order.ts';
import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { listOf, stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { any, decodeAs, flag, listOfShape, type Shape, struct, text } from '../../blobs/index.ts';
import type { BundleObject } from '../bundle/bundle-objects.ts';
import type { ApiDefinition, ServiceVersion } from './service-version.ts';

/** An API of a bundle, with all fields that identify it. */
export interface Api {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** APIs of the bundle's CRDs, and of its owned APIServices. */
export function providedApis(crds: readonly Api[], csv: ServiceVersion): readonly Api[] {
  const services = servicesOf(csv).owned.map(({ group, version, kind, name }) => ({
    group,
    version,
    kind,
    plural: name,
  }));
  return [...crds, ...services];
}

function servicesOf(csv: ServiceVersion): ReturnType<ServiceVersion['apiServices']> {
  try {
    return csv.apiServices();
  } catch (error) {
    throw new TerminalError(`error getting apiservice definitions: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** @throws TerminalError `couldn't parse plural.group from crd name: …` */
export function requiredApis(csv: ServiceVersion): readonly Api[] {
  const crds = csv.definitions('customresourcedefinitions').required.map(apiOfDefinition);
  const services = csv.definitions('apiservicedefinitions').required;
  return [
    ...crds,
    ...services.map(({ group, version, kind, name }) => ({ group, version, kind, plural: name })),
  ];
}

/** @throws TerminalError if the bundle lacks a CRD that its ClusterServiceVersion owns. */
export function checkOwnedApis(provided: readonly Api[], csv: ServiceVersion): void {
  const known = new Set(provided.map(apiText));
  const owned = csv.definitions('customresourcedefinitions').owned.map(apiOfDefinition);
  const missing = owned.find((api) => !known.has(apiText(api)));
  if (missing === undefined) return;
  const found = [...new Map(provided.map((api) => [apiText(api), api])).values()]
    .toSorted(compareApis)
    .map((api) => `${apiText(api)}:{}`);
  throw new TerminalError(
    `couldn't find ${apiText(missing)} in bundle. found: map[${found.join(' ')}]`,
  );
}

function apiOfDefinition({ name, version, kind }: ApiDefinition): Api {
  const dot = name.indexOf('.');
  if (dot === -1) throw new TerminalError(`couldn't parse plural.group from crd name: ${name}`);
  return { group: name.slice(dot + 1), version, kind, plural: name.slice(0, dot) };
}

function apiText({ group, version, kind, plural }: Api): string {
  return `${group}/${version}/${kind} (${plural})`;
}

function compareApis(a: Api, b: Api): number {
  return (
    compareBytes(a.group, b.group) ||
    compareBytes(a.version, b.version) ||
    compareBytes(a.kind, b.kind) ||
    compareBytes(a.plural, b.plural)
  );
}

/**
 * Versions of the API that an object defines, served or not; empty for anything but a CRD.
 * @throws TerminalError `error decoding v1 CRD: …`
 */
export function definedApis({ kind, group, version, value }: BundleObject): readonly Api[] {
  const shape = Object.hasOwn(crdShapes, version) ? crdShapes[version] : undefined;
  if (kind !== 'CustomResourceDefinition' || shape === undefined) return [];
  if (group !== 'apiextensions.k8s.io') {
    const api = group === '' ? version : `${group}/${version}`;
    throw new TerminalError(
      `error decoding ${version} CRD: no kind "${kind}" is registered for version "${api}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const spec = specOf(shape, version, value);
  const names = spec['names'];
  const listed = listOf(spec['versions']).map((each) => stringAt(each, 'name') ?? '');
  const single = version === 'v1beta1' ? (stringAt(spec, 'version') ?? '') : '';
  return [...listed, ...(single === '' ? [] : [single])].map((name) => ({
    group: stringAt(spec, 'group') ?? '',
    version: name,
    kind: stringAt(names, 'kind') ?? '',
    plural: stringAt(names, 'plural') ?? '',
  }));
}

function specOf(shape: Shape, version: string, value: JsonObject): JsonObject {
  try {
    const decoded = decodeAs(shape, value) as { readonly spec?: JsonValue } | undefined;
    return (decoded?.spec ?? {}) as JsonObject;
  } catch (error) {
    throw new TerminalError(`error decoding ${version} CRD: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

const crdNames = struct('v1.CustomResourceDefinitionNames', {
  plural: text,
  singular: text,
  kind: text,
  listKind: text,
});

const crdVersion = struct('v1.CustomResourceDefinitionVersion', {
  name: text,
  served: flag,
  storage: flag,
  deprecated: flag,
});

function crdShape(api: string): Shape {
  const spec = struct(`${api}.CustomResourceDefinitionSpec`, {
    group: text,
    version: text,
    names: crdNames,
    scope: any,
    versions: listOfShape({ ...crdVersion, type: `${api}.CustomResourceDefinitionVersion` }),
  });
  return struct(`${api}.CustomResourceDefinition`, { spec });
}

const crdShapes: Readonly<Record<string, Shape>> = {
  v1: crdShape('v1'),
  v1beta1: crdShape('v1beta1'),
};
