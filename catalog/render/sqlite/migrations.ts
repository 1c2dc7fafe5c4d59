import { goQuote } from '../../../api/go-quote.ts';
import type { JsonValue } from '../../../api/json.ts';
import { stringAt } from '../../../api/json-fields.ts';
import { TerminalError } from '../../../core/errors.ts';
import { parseYaml } from '../../../core/manifests/index.ts';
import { decodeAs, jsonText, type OlmBundle, struct, text } from '../../blobs/index.ts';
import { csvMetadata, displayNameOf, isCsv } from '../csv/csv-metadata.ts';

/** A change of format in newer catalogs; the list has the oldest first. */
export interface Migration {
  readonly name: string;
  readonly summary: string;
  /** `csv` is the JSON of the bundle's ClusterServiceVersion, empty if it is not embedded. */
  readonly migrate: (bundle: OlmBundle, csv: string) => OlmBundle;
}

export const migrations: readonly Migration[] = [
  { name: 'none', summary: 'do nothing', migrate: (bundle) => bundle },
  {
    name: 'bundle-object-to-csv-metadata',
    summary: `migrates bundles' "olm.bundle.object" to "olm.csv.metadata"`,
    migrate: objectsToMetadata,
  },
];

/**
 * All migrations up to and including a level; level `all` means all of them.
 * @throws TerminalError `unknown migration level "…"`
 */
export function migrationsUpTo(level: string): readonly Migration[] {
  if (level === 'all') return migrations;
  const index = migrations.findIndex(({ name }) => name === level);
  if (index === -1) throw new TerminalError(`unknown migration level ${goQuote(level)}`);
  return migrations.slice(0, index + 1);
}

/** Catalogs serve a bundle without an image from its embedded objects, so it stays unchanged. */
function objectsToMetadata(bundle: OlmBundle, csv: string): OlmBundle {
  if (bundle.image === '' || csv === '') return bundle;
  const metadata = csvMetadata(csv);
  if (bundle.properties.some(({ type }) => type === 'olm.csv.metadata')) return bundle;
  const others = bundle.properties.filter(({ type }) => type !== 'olm.bundle.object');
  return { ...bundle, properties: [...others, metadata] };
}

/** Display name of a bundle's operator in the catalog; empty if there is none. */
export function operatorNameOf(bundle: OlmBundle): string {
  const metadata = bundle.properties.find(({ type }) => type === 'olm.csv.metadata');
  if (metadata === undefined) return displayNameOf(embeddedCsv(bundle));
  return stringAt(metadata.value, 'displayName') ?? '';
}

/** JSON of the ClusterServiceVersion that a bundle embeds; empty if there is none. */
export function embeddedCsv({ properties }: OlmBundle): string {
  for (const { type, value } of properties) {
    if (type !== 'olm.bundle.object') continue;
    const object = objectIn(value);
    if (isCsv(object)) return jsonText(object, { escapeHtml: true, sorted: true });
  }
  return '';
}

const bundleObject = struct('property.BundleObject', { data: text });

/** Null for an object that cannot be read: opm passes over it, too. */
function objectIn(value: JsonValue | undefined): JsonValue {
  try {
    const data = stringAt(decodeAs(bundleObject, value), 'data') ?? '';
    return parseYaml(Buffer.from(data, 'base64'));
  } catch (error) {
    if (error instanceof TerminalError) return null;
    throw error;
  }
}
