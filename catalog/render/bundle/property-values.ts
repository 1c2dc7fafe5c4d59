import { type JsonObject, parseJson } from '../../../api/json.ts';
import { stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { decodeAs, jsonText, type Shape, stringText, struct, text } from '../../blobs/index.ts';
import type { Api } from '../csv/provided-apis.ts';
import type { RawProperty } from './bundle-metadata.ts';

const asIs = { escapeHtml: false, sorted: false };

/** Value of `olm.package`. */
export function packageText(packageName: string, version: string, release: string): string {
  const released = release === '' ? {} : { release };
  return jsonText({ packageName, version, ...released }, asIs);
}

/** `olm.gvk` or `olm.gvk.required` of an API. */
export function gvkProperty(
  type: string,
  { group, version, kind }: Omit<Api, 'plural'>,
): RawProperty {
  return { type, raw: jsonText({ group, kind, version }, asIs) };
}

interface SortedOut {
  readonly gvks: readonly RawProperty[];
  readonly packages: readonly RawProperty[];
  readonly others: readonly RawProperty[];
}

type Decoded = (value: JsonObject) => RawProperty;

/**
 * Properties by what they tell; those of APIs and packages rewritten by `gvk` and `named`.
 * @throws TerminalError `parse property[0] of type "olm.gvk": …` for a value of the wrong type
 */
export function sortedOut(
  entries: readonly RawProperty[],
  gvk: Decoded,
  named: Decoded,
): SortedOut {
  const gvks: RawProperty[] = [];
  const packages: RawProperty[] = [];
  const others: RawProperty[] = [];
  entries.forEach((entry, index) => {
    if (entry.type === 'olm.gvk') gvks.push(gvk(decoded(gvkShape, entry, index)));
    else if (entry.type === 'olm.package')
      packages.push(named(decoded(packageShape, entry, index)));
    else others.push(entry);
  });
  return { gvks, packages, others };
}

/** @throws TerminalError that names the property by its index and type */
export function decoded(shape: Shape, { type, raw }: RawProperty, index: number): JsonObject {
  try {
    if (raw === undefined) throw new TerminalError('unexpected end of JSON input');
    return (decodeAs(shape, parseJson(raw)) ?? {}) as JsonObject;
  } catch (error) {
    const message = `parse property[${index}] of type ${JSON.stringify(type)}: ${errorMessage(error)}`;
    throw new TerminalError(message, { cause: error });
  }
}

const gvkShape = struct('property.GVK', { group: text, kind: text, version: text });
/** Fields of `olm.package`. */
export const packageShape = struct('property.Package', {
  packageName: text,
  version: text,
  release: text,
});

function gvkOf(value: JsonObject): Omit<Api, 'plural'> {
  return {
    group: stringAt(value, 'group') ?? '',
    version: stringAt(value, 'version') ?? '',
    kind: stringAt(value, 'kind') ?? '',
  };
}

/** What a bundle provides, with the fields of opm alone. */
export function ownGvk(value: JsonObject): RawProperty {
  return gvkProperty('olm.gvk', gvkOf(value));
}

/** The dependency on an API, as a property. */
export function requiredGvk(value: JsonObject): RawProperty {
  return gvkProperty('olm.gvk.required', gvkOf(value));
}

/** `olm.package` with the fields of opm alone. */
export function packageOf(value: JsonObject): RawProperty {
  const [name, version, release] = ['packageName', 'version', 'release'].map(
    (field) => stringAt(value, field) ?? '',
  );
  return { type: 'olm.package', raw: packageText(name ?? '', version ?? '', release ?? '') };
}

/** The dependency on a package, as a property. */
export function requiredPackage(value: JsonObject): RawProperty {
  const packageName = stringAt(value, 'packageName') ?? '';
  const versionRange = stringAt(value, 'version') ?? '';
  return { type: 'olm.package.required', raw: jsonText({ packageName, versionRange }, asIs) };
}

/** Value of `olm.bundle.object`. */
export function dataText(json: string): string {
  return `{"data":${stringText(Buffer.from(json).toString('base64'), false)}}`;
}
