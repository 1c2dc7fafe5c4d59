import { type JsonObject, parseJson } from '../../api/json.ts';
import {
  type Blob,
  decodeBundle,
  goYaml,
  htmlEscaped,
  indentedText,
  jsonText,
  readObjects,
} from '../blobs/index.ts';

/** Types of templates that can be made from a catalog. */
export type CatalogTemplateType = 'basic' | 'substitutes';

/** A file of a catalog; the name is for errors. */
export interface CatalogFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/**
 * A template of the blobs of a catalog's file, as text: type basic keeps only schema and image of
 * bundles. Like opm, it accepts blobs without a schema.
 * @throws BlobError
 */
export function templateOfCatalog(
  { name, content }: CatalogFile,
  type: CatalogTemplateType,
  format: 'json' | 'yaml',
): string {
  const blobs = [...readObjects(name, content)].map((blob) =>
    type === 'basic' ? basicEntry(blob) : jsonText(blob.value),
  );
  const entries = blobs.length === 0 ? 'null' : `[${blobs.join(',')}]`;
  const more = type === 'basic' ? '' : ',"substitutions":[]';
  const json = `{"schema":"olm.template.${type}","entries":${entries}${more}}`;
  if (format === 'json') return `${htmlEscaped(indentedText(json, ''))}\n`;
  return `---\n${goYaml(parseJson(json) as JsonObject)}\n`;
}

function basicEntry(blob: Blob): string {
  if (blob.schema !== 'olm.bundle') return jsonText(blob.value);
  const { schema, image } = decodeBundle(blob);
  return jsonText({ schema, image }, { escapeHtml: false, sorted: false });
}
