import { goQuote } from '../../api/go-quote.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../api/json.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { isJsonObject, parseYaml } from '../../core/manifests/index.ts';
import type {
  Blob,
  Icon,
  OlmBundle,
  OlmChannel,
  OlmDeprecations,
  OlmPackage,
  Property,
} from './blob.ts';
import { errorAt } from './blob-error.ts';
import { decodeBase64 } from './json/base64.ts';
import { jsonText } from './json/json-text.ts';
import {
  any,
  decodeAs,
  listOfShape,
  type StructShape,
  struct,
  text,
  texts,
} from './json/typed-json.ts';

const properties = listOfShape(struct('property.Property', { type: text, value: any }));

const shapes = {
  package: struct('declcfg.Package', {
    defaultChannel: text,
    description: text,
    icon: struct('declcfg.Icon', { base64data: { kind: 'bytes' }, mediatype: text }),
    name: text,
    properties,
    schema: text,
  }),
  channel: struct('declcfg.Channel', {
    entries: listOfShape(
      struct('declcfg.ChannelEntry', { name: text, replaces: text, skipRange: text, skips: texts }),
    ),
    name: text,
    package: text,
    properties,
    schema: text,
  }),
  bundle: struct('declcfg.Bundle', {
    image: text,
    name: text,
    package: text,
    properties,
    relatedImages: listOfShape(struct('declcfg.RelatedImage', { image: text, name: text })),
    schema: text,
  }),
  deprecation: struct('declcfg.Deprecation', {
    entries: listOfShape(
      struct('declcfg.DeprecationEntry', {
        message: text,
        reference: struct('declcfg.PackageScopedReference', { name: text, schema: text }),
      }),
    ),
    package: text,
    schema: text,
  }),
} satisfies Record<string, StructShape>;

/**
 * Decodes an `olm.package` blob. Field names match in any case, absent fields are empty, unknown
 * fields are dropped. The other three decoders do the same.
 * @throws BlobError `parse package: …` for a field of the wrong type, in opm's words.
 */
export function decodePackage(blob: Blob): OlmPackage {
  return decoding(blob, 'package', (fields) => {
    const { icon } = fields;
    return {
      schema: 'olm.package',
      name: textOf(fields['name']),
      defaultChannel: textOf(fields['defaultChannel']),
      ...(isJsonObject(icon) && { icon: iconOf(icon) }),
      description: textOf(fields['description']),
      properties: propertiesOf(fields['properties'], blob.value),
    };
  });
}

function iconOf(icon: JsonObject): Icon {
  const written = icon['base64data'];
  const data = typeof written === 'string' ? decodeBase64(written).toString('base64') : null;
  return { base64data: data, mediatype: textOf(icon['mediatype']) };
}

export function decodeChannel(blob: Blob): OlmChannel {
  return decoding(blob, 'channel', (fields) => ({
    schema: 'olm.channel',
    name: textOf(fields['name']),
    package: textOf(fields['package']),
    entries: objectsOf(fields['entries']).map((entry) => ({
      name: textOf(entry['name']),
      replaces: textOf(entry['replaces']),
      skips: listOf(entry['skips']).map(textOf),
      skipRange: textOf(entry['skipRange']),
    })),
    ...emptyEntries(fields),
    properties: propertiesOf(fields['properties'], blob.value),
  }));
}

/** @throws BlobError also for an unreadable `olm.bundle.object`. */
export function decodeBundle(blob: Blob): OlmBundle {
  const bundle = decoding(
    blob,
    'bundle',
    (fields): OlmBundle => ({
      schema: 'olm.bundle',
      name: textOf(fields['name']),
      package: textOf(fields['package']),
      image: textOf(fields['image']),
      properties: propertiesOf(fields['properties'], blob.value),
      relatedImages: objectsOf(fields['relatedImages']).map((related) => ({
        name: textOf(related['name']),
        image: textOf(related['image']),
      })),
    }),
  );
  bundle.properties.forEach((property, index) => {
    if (property.type === 'olm.bundle.object') checkBundleObject(blob, bundle, { property, index });
  });
  return bundle;
}

export function decodeDeprecations(blob: Blob): OlmDeprecations {
  return decoding(blob, 'deprecation', (fields) => ({
    schema: 'olm.deprecations',
    package: textOf(fields['package']),
    entries: objectsOf(fields['entries']).map((entry) => {
      const reference = isJsonObject(entry['reference']) ? entry['reference'] : {};
      return {
        reference: { schema: textOf(reference['schema']), name: textOf(reference['name']) },
        message: textOf(entry['message']),
      };
    }),
    ...emptyEntries(fields),
  }));
}

function emptyEntries({ entries }: JsonObject): { readonly hasEmptyEntries?: true } {
  return Array.isArray(entries) && entries.length === 0 ? { hasEmptyEntries: true } : {};
}

function decoding<T>(blob: Blob, kind: keyof typeof shapes, read: (fields: JsonObject) => T): T {
  try {
    return read(fieldsOf(shapes[kind], blob.value));
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    throw errorAt(new TerminalError(`parse ${kind}: ${errorMessage(error)}`), blob.place);
  }
}

/** opm decodes what it has encoded again: of several wrong fields it names the first by key. */
function fieldsOf(shape: StructShape, value: JsonObject): JsonObject {
  try {
    return decodeAs(shape, value) as JsonObject;
  } catch {
    return decodeAs(shape, parseJson(jsonText(value))) as JsonObject;
  }
}

const bundleObject = struct('property.BundleObject', { data: { kind: 'bytes' } });

// opm converts YAML to JSON here, and leaves text that starts with a brace unchanged.
function checkBundleObject(
  blob: Blob,
  bundle: OlmBundle,
  { property, index }: { readonly property: Property; readonly index: number },
): void {
  const where = `read bundle objects: package ${goQuote(bundle.package)}, bundle ${goQuote(bundle.name)}`;
  const step = (text: string, run: () => Buffer): Buffer => {
    try {
      return run();
    } catch (error) {
      const message = `${where}: ${text}: ${errorMessage(error)}`;
      throw errorAt(new TerminalError(message, { cause: error }), blob.place);
    }
  };
  const data = step(`parse property at index ${index} as bundle object`, () => {
    if (property.value === undefined) throw new TerminalError('unexpected end of JSON input');
    const object = decodeAs(bundleObject, property.value);
    return decodeBase64(textOf(isJsonObject(object) ? object['data'] : undefined));
  });
  if (/^\s*\{/.test(data.toString('latin1', 0, 4096))) return;
  step(`convert bundle object property at index ${index} to JSON`, () => {
    readYaml(data);
    return data;
  });
}

function readYaml(data: Buffer): void {
  try {
    parseYaml(data);
  } catch (error) {
    throw new TerminalError(errorMessage(error).replace('error converting YAML to JSON: ', ''));
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return listOf(value).map((item) => (isJsonObject(item) ? item : {}));
}

/** Keeps a null value as null; only an absent one is undefined. */
function propertiesOf(value: JsonValue | undefined, blob: JsonObject): readonly Property[] {
  const written = memberOf(blob, 'properties');
  return objectsOf(value).map((property, index) => {
    const source = Array.isArray(written) ? (written[index] as JsonValue) : undefined;
    const isNull = isJsonObject(source) && memberOf(source, 'value') === null;
    return { type: textOf(property['type']), value: isNull ? null : property['value'] };
  });
}

function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  const key = Object.keys(object).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : object[key];
}
