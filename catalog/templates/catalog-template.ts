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

/** What a catalog can be made a template of. */
export type CatalogTemplateType = 'basic' | 'substitutes';

/**
 * A template of the blobs of a file of a catalog, as text: of bundles, a basic one keeps schema and
 * image alone. As by opm, a blob may lack a schema.
 * @throws BlobError
 */
export function templateOfCatalog(
  content: Uint8Array,
  type: CatalogTemplateType,
  format: 'json' | 'yaml',
): string {
  const blobs = [...readObjects('', content)].map((blob) =>
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
