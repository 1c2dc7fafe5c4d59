import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { JsonValue } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import { TerminalError } from '../../../core/errors.ts';
import { parseYaml } from '../../../core/manifests/index.ts';
import { parseVersion, versionText } from '../../../resolver/versions/index.ts';
import { jsonText, type OlmBundle, type OlmPackage, type Property } from '../../blobs/index.ts';
import { describedCsv, describedMetadata } from '../../render/index.ts';
import { protocol } from './protocol.ts';

/** An API that a bundle provides. */
export interface ProvidedApi {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * The encoded parts of a bundle's `api.Bundle` messages that are the same in all channels, without
 * manifests. Joined with a channel's parts, in the order of field numbers, they form a message.
 */
export interface BundleParts {
  /** Fields 6 to 9: image, APIs, version. */
  readonly identity: Uint8Array;
  /** Fields 11 and 12: dependencies and properties. */
  readonly properties: Uint8Array;
  readonly provides: readonly ProvidedApi[];
}

/**
 * The parts of a valid bundle.
 * @throws TerminalError for more than one `olm.csv.metadata`, or manifests that cannot be served
 */
export function bundleParts(bundle: OlmBundle): BundleParts {
  checkDescriptions(bundle);
  checkManifests(bundle);
  const provides = apisOf(bundle, 'olm.gvk');
  return {
    identity: encoded({
      bundlePath: bundle.image,
      providedApis: provides,
      requiredApis: apisOf(bundle, 'olm.gvk.required'),
      version: versionOf(bundle),
    }),
    properties: encoded({
      dependencies: bundle.properties.flatMap(dependencyOf),
      properties: bundle.properties.filter(isServed).map(({ type, value }) => {
        return { type, value: jsonText(value) };
      }),
    }),
    provides,
  };
}

/**
 * Fields 4 and 5 of a message: the ClusterServiceVersion, and the objects of the bundle or else that
 * one alone. Takes longer than all other parts of most bundles, and few requests ask for it.
 */
export function bundleManifests(bundle: OlmBundle, owner: OlmPackage): Uint8Array {
  const objects = objectsOf(bundle);
  const csv = objects.find(isCsv) ?? described(bundle, owner);
  if (csv === '') return Buffer.concat(objects.map((text) => encodedText(5, text)));
  const all = objects.length === 0 ? [csv] : objects;
  return Buffer.concat([encodedText(4, csv), ...all.map((text) => encodedText(5, text))]);
}

/** @throws TerminalError as `bundleManifests` does */
function checkManifests(bundle: OlmBundle): void {
  if (objectsOf(bundle).some(isCsv)) return;
  const only = bundle.properties.find(isOf('olm.csv.metadata'));
  if (only === undefined) return;
  parseVersion(versionOf(bundle));
  describedMetadata(only.value ?? null);
}

function checkDescriptions({ properties }: OlmBundle): void {
  const { length } = properties.filter(isOf('olm.csv.metadata'));
  if (length <= 1) return;
  throw new TerminalError(
    `parse properties: expected at most 1 property of type "olm.csv.metadata", found ${length}`,
  );
}

function encoded(fields: Readonly<Record<string, unknown>>): Uint8Array {
  return protocol.encode('api.Bundle', fields);
}

/** Encodes a text without the copies that the library's writer makes. */
function encodedText(field: number, text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const head = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(bytes.length);
  return Buffer.concat([head.finish(), bytes]);
}

function versionOf({ properties }: OlmBundle): string {
  return textAt(properties.find(isOf('olm.package'))?.value, 'version');
}

function objectsOf({ properties }: OlmBundle): readonly string[] {
  return properties.filter(isOf('olm.bundle.object')).map(objectText);
}

function isOf(type: string): (property: Property) => boolean {
  return (property) => property.type === type;
}

/** Manifests have their own fields, and do not fit into the annotations that OLM writes. */
function isServed({ type }: Property): boolean {
  return type !== 'olm.bundle.object' && type !== 'olm.csv.metadata';
}

function apisOf(bundle: OlmBundle, type: string): readonly ProvidedApi[] {
  return bundle.properties.filter(isOf(type)).map(({ value }) => ({
    group: textAt(value, 'group'),
    version: textAt(value, 'version'),
    kind: textAt(value, 'kind'),
  }));
}

/** Reads a field like Go: in any case, and the last one wins. */
function textAt(value: JsonValue | undefined, field: string): string {
  if (!isMap(value)) return '';
  const key = Object.keys(value).findLast((each) => each.toLowerCase() === field.toLowerCase());
  const member = key === undefined ? undefined : value[key];
  return typeof member === 'string' ? member : '';
}

function dependencyOf({ type, value }: Property): readonly { type: string; value: string }[] {
  if (type === 'olm.gvk.required') return [{ type: 'olm.gvk', value: jsonText(value) }];
  if (type !== 'olm.package.required') return [];
  const required = {
    packageName: textAt(value, 'packageName'),
    version: textAt(value, 'versionRange'),
  };
  return [{ type: 'olm.package', value: jsonText(required) }];
}

/** An embedded manifest as JSON; existing JSON stays unchanged. */
function objectText({ value }: Property): string {
  const text = Buffer.from(textAt(value, 'data'), 'base64').toString('utf8');
  if (/^\s*\{/.test(text)) return text;
  return jsonText(parseYaml(Buffer.from(text)), { escapeHtml: true, sorted: true });
}

function isCsv(object: string): boolean {
  if (!object.includes('ClusterServiceVersion')) return false;
  try {
    const value = parseYaml(Buffer.from(object));
    return isMap(value) && value['kind'] === 'ClusterServiceVersion';
  } catch {
    return false;
  }
}

function described(bundle: OlmBundle, owner: OlmPackage): string {
  const only = bundle.properties.find(isOf('olm.csv.metadata'));
  if (only === undefined) return '';
  return describedCsv({
    name: bundle.name,
    version: versionText(parseVersion(versionOf(bundle))),
    metadata: describedMetadata(only.value ?? null),
    icon: owner.icon,
    description: owner.description,
    relatedImages: bundle.relatedImages,
  });
}
