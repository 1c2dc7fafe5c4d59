import { parseJson } from '../../../api/json.ts';
import { fieldAt, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import { type Blob, decodeBundle } from '../../../catalog/blobs/index.ts';
import { embeddedCsv } from '../../../catalog/render/index.ts';

/** What a bundle says of its operator. Texts of strangers: show them with control characters escaped. */
export interface BundleDescription {
  /** Empty if it has none, as each text. */
  readonly displayName: string;
  /** A short description, or the first paragraph of the long one. */
  readonly description: string;
  readonly keywords: readonly string[];
  readonly provider: string;
  /** Names of supported install modes, such as `AllNamespaces`. */
  readonly installModes: readonly string[];
}

export const noDescription: BundleDescription = {
  displayName: '',
  description: '',
  keywords: [],
  provider: '',
  installModes: [],
};

/**
 * Reads the property `olm.csv.metadata`, else the embedded ClusterServiceVersion. A bundle without
 * both, or with broken ones, has an empty description.
 */
export function describeBundle(blob: Blob): BundleDescription {
  try {
    return describedBy(blob);
  } catch {
    return noDescription;
  }
}

function describedBy(blob: Blob): BundleDescription {
  const bundle = decodeBundle(blob);
  const metadata = bundle.properties.find(({ type }) => type === 'olm.csv.metadata');
  if (metadata !== undefined) return described(metadata.value, metadata.value);
  const json = embeddedCsv(bundle);
  if (json === '') return noDescription;
  const csv = parseJson(json);
  return described(fieldAt(csv, 'spec'), fieldAt(csv, 'metadata'));
}

function described(spec: unknown, metadata: unknown): BundleDescription {
  const short = stringAt(metadata, 'annotations', 'description');
  return {
    displayName: stringAt(spec, 'displayName') ?? '',
    description: short?.trim() || firstParagraph(stringAt(spec, 'description') ?? ''),
    keywords: listOf(fieldAt(spec, 'keywords')).filter((each) => typeof each === 'string'),
    provider: stringAt(spec, 'provider', 'name') ?? '',
    installModes: listOf(fieldAt(spec, 'installModes')).flatMap((mode) => {
      const { type, supported } = mapOf(mode);
      return typeof type === 'string' && supported === true ? [type] : [];
    }),
  };
}

/** The first paragraph of Markdown that is not a heading, on one line. */
export function firstParagraph(text: string): string {
  const paragraphs = text.split(/\n\s*\n/).map((each) =>
    each
      .split('\n')
      .filter((line) => !/^\s*(?:#|=+\s*$|-+\s*$|!\[)/.test(line))
      .join(' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return paragraphs.find((each) => each !== '') ?? '';
}
