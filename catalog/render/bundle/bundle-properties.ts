import { compareBytes } from '../../../api/byte-order.ts';
import { parseJson } from '../../../api/json.ts';
import { stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { htmlEscaped, type Property } from '../../blobs/index.ts';
import { type Api, requiredApis } from '../csv/provided-apis.ts';
import type { ServiceVersion } from '../csv/service-version.ts';
import { compacted } from '../json-source.ts';
import { type BundleMetadata, propertiesOfJson, type RawProperty } from './bundle-metadata.ts';
import type { BundleObject, Warn } from './bundle-objects.ts';
import {
  dataText,
  decoded,
  gvkProperty,
  ownGvk,
  packageOf,
  packageShape,
  packageText,
  requiredGvk,
  requiredPackage,
  sortedOut,
} from './property-values.ts';

/** Sources of a bundle's properties. */
export interface PropertySources {
  readonly metadata: BundleMetadata;
  readonly objects: readonly BundleObject[];
  readonly csv: ServiceVersion;
  readonly provided: readonly Api[];
}

/**
 * Properties of metadata/properties.yaml, then those of the bundle's package and version, the
 * annotation `olm.properties` and the provided APIs, each once.
 */
export function declaredProperties(sources: PropertySources, warn: Warn): readonly RawProperty[] {
  const { metadata, csv, provided } = sources;
  const annotated = annotatedProperties(csv, warn);
  const own = metadata.packageName === '' ? [] : [packageProperty(metadata.packageName, csv)];
  const apis = provided.map((api) => gvkProperty('olm.gvk', api));
  return distinct([...metadata.properties, ...own, ...annotated, ...apis]);
}

function annotatedProperties({ annotations }: ServiceVersion, warn: Warn): readonly RawProperty[] {
  const json = Object.hasOwn(annotations, 'olm.properties')
    ? annotations['olm.properties']
    : undefined;
  if (json === undefined) return [];
  function tell(problem: string): void {
    warn(`failed to unmarshal csv annotation properties: ${problem}`);
  }
  try {
    return propertiesOfJson(json, tell);
  } catch (error) {
    tell(errorMessage(error));
    return [];
  }
}

/** Escaped like Go's Marshal; properties derived from it later are not. */
function packageProperty(packageName: string, csv: ServiceVersion): RawProperty {
  return {
    type: 'olm.package',
    raw: htmlEscaped(packageText(packageName, csv.version(), csv.release())),
  };
}

/** Removes repetitions of the same type and text. */
export function distinct(properties: readonly RawProperty[]): readonly RawProperty[] {
  const byText = new Map<string, RawProperty>();
  for (const each of properties) {
    const key = `type: ${each.type}, value: ${each.raw ?? ''}`;
    if (!byText.has(key)) byText.set(key, each);
  }
  return [...byText.values()];
}

/**
 * Properties of the olm.bundle blob in the order of output: by type and text, embedded objects
 * last.
 * @throws TerminalError `parse property[0] of type "olm.gvk": …` for a value of the wrong type.
 */
export function bundleProperties(
  declared: readonly RawProperty[],
  sources: PropertySources,
): readonly Property[] {
  const { objects, metadata, csv, provided } = sources;
  const own = sortedOut(declared, ownGvk, packageOf);
  const dependencies = sortedOut(metadata.dependencies, requiredGvk, requiredPackage);
  const version = wrapped('get version', () => csv.version());
  const release = wrapped('get release', () => csv.release());
  const required = wrapped('get required apis', () => requiredApis(csv));
  const named = own.packages.at(-1) ?? {
    type: 'olm.package',
    raw: packageText(metadata.packageName, version, release),
  };
  const gvks = [...own.gvks, ...provided.map((api) => gvkProperty('olm.gvk', api))];
  const requiredGvks = [
    ...dependencies.gvks,
    ...required.map((api) => gvkProperty('olm.gvk.required', api)),
  ];
  const embedded = objects.map(({ json }) => ({ type: 'olm.bundle.object', raw: dataText(json) }));
  const all = [
    ...embedded,
    named,
    ...distinct(gvks),
    ...distinct(requiredGvks),
    ...dependencies.packages,
    ...own.others,
    ...dependencies.others,
  ];
  return objectsLast(all.toSorted(byTypeAndText)).map(propertyOf);
}

function isPackage({ type }: RawProperty): boolean {
  return type === 'olm.package';
}

/** Properties of one bundle in a database. */
export interface PropertyRows {
  readonly own: readonly RawProperty[];
  readonly dependencies: readonly RawProperty[];
  /** Used if there is no property `olm.package`. */
  readonly package: { readonly packageName: string; readonly version: string };
  readonly objects: readonly BundleObject[];
}

/** Properties of a bundle in a database, including its dependencies and embedded objects. */
export function valueProperties(rows: PropertyRows): readonly RawProperty[] {
  const own = sortedOut(
    rows.own.filter((each) => !isPackage(each)),
    ownGvk,
    packageOf,
  );
  const dependencies = sortedOut(rows.dependencies, requiredGvk, requiredPackage);
  const { packageName, version } = rows.package;
  const named = { type: 'olm.package', raw: packageText(packageName, version, '') };
  const packages = rows.own.filter(isPackage);
  return [
    ...own.others,
    ...(packages.length === 0 ? [named] : packages),
    ...distinct(own.gvks),
    ...distinct(dependencies.gvks),
    ...dependencies.packages,
    ...rows.objects.map(({ json }) => ({ type: 'olm.bundle.object', raw: dataText(json) })),
  ];
}

function wrapped<Value>(step: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new TerminalError(`${step}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Version of the first property `olm.package`; empty if there is none. */
export function packageVersion(declared: readonly RawProperty[]): string {
  const index = declared.findIndex(({ type }) => type === 'olm.package');
  const property = declared[index];
  if (property === undefined) return '';
  return stringAt(decoded(packageShape, property, index), 'version') ?? '';
}

function byTypeAndText(a: RawProperty, b: RawProperty): number {
  return compareBytes(a.type, b.type) || compareBytes(a.raw ?? '', b.raw ?? '');
}

const embeddedTypes: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/** Moves embedded objects and metadata after the other properties, as opm writes them. */
export function objectsLast<Each extends { readonly type: string }>(
  properties: readonly Each[],
): readonly Each[] {
  const embedded = properties.filter(({ type }) => embeddedTypes.has(type));
  if (embedded.length === 0) return properties;
  return [...properties.filter(({ type }) => !embeddedTypes.has(type)), ...embedded];
}

/** The property with compact text and its parsed value. */
export function propertyOf({ type, raw }: RawProperty): Property {
  if (raw === undefined) return { type, value: undefined };
  const json = compacted(raw);
  return { type, value: parseJson(json), json };
}
