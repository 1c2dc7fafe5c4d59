import type { JsonValue } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { jsonText } from '../../blobs/index.ts';
import { type FirstDocument, firstDocument } from '../first-document.ts';
import { withYamlNumbers } from '../go-integers.ts';
import { shortestFloat } from '../go-number.ts';
import { elementTexts, memberTexts } from '../json-source.ts';
import { type BundleFile, filesOf, type Warn } from './bundle-objects.ts';

/** A property or dependency with its value as JSON text, as Go keeps an undecoded value. */
export interface RawProperty {
  readonly type: string;
  /** Undefined if the entry has no value. */
  readonly raw: string | undefined;
}

/** Content of the files of `metadata/`. */
export interface BundleMetadata {
  readonly packageName: string;
  readonly dependencies: readonly RawProperty[];
  readonly properties: readonly RawProperty[];
}

const prefix = 'operators.operatorframework.io.bundle.';

/**
 * Reads the files of `metadata/` by content, whatever their names: the first one with annotations,
 * the first one with dependencies, the first one with properties. `warn` reports what is left out.
 * @throws TerminalError `Could not find annotations file`
 */
export async function bundleMetadata(dir: string, warn: Warn): Promise<BundleMetadata> {
  let packageName: string | undefined;
  let dependencies: readonly RawProperty[] = [];
  let properties: readonly RawProperty[] = [];
  for await (const file of filesOf(dir)) {
    const reader = new MetadataReader(file, warn);
    const document = reader.document(file.content);
    if (document === undefined) continue;
    packageName ??= reader.attempt('', () => annotatedPackage(document.value));
    if (dependencies.length === 0) dependencies = reader.entries(document, 'dependencies');
    if (properties.length === 0) properties = reader.entries(document, 'properties');
  }
  if (packageName === undefined) throw new TerminalError('Could not find annotations file');
  return { packageName, dependencies, properties };
}

/** Reads a file as far as it can be decoded. */
class MetadataReader {
  readonly #file: string;
  readonly #warn: Warn;

  constructor({ name }: BundleFile, warn: Warn) {
    this.#file = `metadata/${name}`;
    this.#warn = name.startsWith('.') ? () => undefined : warn;
  }

  document(content: BundleFile['content']): FirstDocument | undefined {
    // Generated bundles have empty files.
    if (!(content instanceof Error) && content.byteLength === 0) return undefined;
    const document = this.attempt('', () => {
      if (content instanceof Error) throw content;
      return firstDocument(content);
    });
    if (document?.more === true) {
      this.#warn(`found more than one document inside ${this.#file}, using only the first one`);
    }
    return document;
  }

  /** Empty if any entry cannot be decoded: the file then counts as one without them. */
  entries(document: FirstDocument, name: string): readonly RawProperty[] {
    return this.attempt(` ${name}`, () => entriesOf(document, name)) ?? [];
  }

  attempt<Value>(what: string, read: () => Value | undefined): Value | undefined {
    try {
      return read();
    } catch (error) {
      this.#warn(`failed to decode${what}: ${errorMessage(error)} (${this.#file})`);
      return undefined;
    }
  }
}

/** Undefined if the document has no relevant annotation. */
function annotatedPackage(document: JsonValue): string | undefined {
  const annotations = memberOf(document, 'annotations');
  if (annotations === undefined || annotations === null) return undefined;
  if (!isMap(annotations)) throw new TerminalError('annotations are no map');
  const [name = '', ...others] = ['package.v1', 'channels.v1', 'channel.default.v1'].map((key) =>
    textOf(memberOf(annotations, prefix + key)),
  );
  return [name, ...others].every((value) => value === '') ? undefined : name;
}

/** Text of a scalar, for a field that must be text. */
function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') throw new TerminalError('no text');
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  const number = withYamlNumbers(value);
  return typeof number === 'number' ? shortestFloat(number) : jsonText(number, html);
}

/** A member by its exact name, else by its name in any case. */
function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (!isMap(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  const key = Object.keys(value).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : value[key];
}

/** @throws TerminalError for anything but a list of entries */
function entriesOf(document: FirstDocument, name: string): readonly RawProperty[] {
  const list = memberOf(document.value, name) ?? [];
  if (!Array.isArray(list)) throw new TerminalError('they are no list');
  const values = list as readonly JsonValue[];
  // JSON with a type that is not a string is read again as YAML.
  const isYaml =
    document.json === undefined || values.some((value) => !isText(memberOf(value, 'type')));
  const texts = isYaml ? [] : listTexts(document.json ?? '', name);
  return values.map((value, index) => entryOf(value, texts[index]));
}

function isText(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function listTexts(json: string, name: string): readonly string[] {
  const list = namedText(json, name);
  return list === undefined ? [] : elementTexts(list);
}

function namedText(json: string, name: string): string | undefined {
  const members = memberTexts(json);
  const key = [...members.keys()].find((each) => each.toLowerCase() === name.toLowerCase());
  return members.get(members.has(name) ? name : (key ?? name));
}

/** `json` is the source text of an entry in JSON. */
function entryOf(value: JsonValue, json: string | undefined): RawProperty {
  if (value === null) return { type: '', raw: undefined };
  if (!isMap(value)) throw new TerminalError('an entry is no map');
  const member = memberOf(value, 'value');
  const raw = json === undefined ? yamlText(member) : namedText(json, 'value');
  return { type: textOf(memberOf(value, 'type')), raw };
}

const html = { escapeHtml: true, sorted: true };

function yamlText(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  return jsonText(withYamlNumbers(value), html);
}

/**
 * Properties of a JSON text, such as the annotation `olm.properties`. An element that is not an
 * object counts as empty, and so does a type that is not a string; `warn` reports the first.
 * @throws SyntaxError for invalid JSON, TerminalError for anything but a list.
 */
export function propertiesOfJson(
  json: string,
  warn: (problem: string) => void,
): readonly RawProperty[] {
  const list = JSON.parse(json) as JsonValue;
  if (list === null) return [];
  if (!Array.isArray(list)) {
    throw new TerminalError(`json: cannot unmarshal ${typeof list} into ${listType}`);
  }
  const values = list as readonly JsonValue[];
  const odd = values.find((value) => value !== null && !isText(memberOf(value, 'type')));
  if (odd !== undefined) warn('json: cannot unmarshal a type that is no string');
  return elementTexts(json).map((element, index) => jsonProperty(values[index], element));
}

const listType = 'Go value of type []registry.Property';

function jsonProperty(value: JsonValue | undefined, json: string): RawProperty {
  if (!isMap(value)) return { type: '', raw: undefined };
  const type = memberOf(value, 'type');
  return { type: typeof type === 'string' ? type : '', raw: namedText(json, 'value') };
}
