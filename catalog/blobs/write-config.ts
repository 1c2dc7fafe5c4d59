import { type JsonObject, type JsonValue, parseJson } from '../../api/json.ts';
import type { CatalogConfig } from './blob.ts';
import { goYaml } from './go-yaml/go-yaml.ts';
import { indentedText } from './json/json-marks.ts';
import { inKeyOrder, jsonText, nativeJson, RawJson } from './json/json-text.ts';
import { withGoNumbers } from './json/numbers.ts';
import { type WrittenFields, writtenBlobs } from './written-blobs.ts';

/**
 * The blobs of a catalog in opm's JSON: one object after another, indented by four spaces. In pieces,
 * because V8 copies a joined text as a whole.
 */
export function* writeJson(config: CatalogConfig): Generator<string> {
  for (const blob of writtenBlobs(config, anyJson)) {
    yield blobJson(blob);
    yield '\n';
  }
}

/** The same in opm's YAML: one document per blob, each after a `---` line. */
export function* writeYaml(config: CatalogConfig): Generator<string> {
  for (const blob of writtenBlobs(config, anyYaml)) {
    yield '---\n';
    yield goYaml(blob as JsonObject);
  }
}

/** A value that JSON.stringify writes like Go, or else its JSON text. */
function anyJson(value: JsonValue, json: string | undefined): unknown {
  if (json !== undefined) return new RawJson(json);
  return inKeyOrder(value) ?? new RawJson(jsonText(withGoNumbers(value)));
}

function anyYaml(value: JsonValue, json: string | undefined): unknown {
  return json === undefined ? withGoNumbers(value) : parseJson(json);
}

const indent = 4;

function blobJson(fields: WrittenFields): string {
  const text = fields instanceof RawJson ? undefined : nativeJson(fields, indent);
  return text ?? indentedText(jsonText(fields as JsonObject, asItIs), '');
}

const asItIs = { escapeHtml: false, sorted: false };
