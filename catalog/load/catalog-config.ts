import {
  type Blob,
  type CatalogConfig,
  type CustomBlob,
  decodeBundle,
  decodeChannel,
  decodeDeprecations,
  decodePackage,
  type OlmBundle,
  type OlmChannel,
  type OlmDeprecations,
  type OlmPackage,
} from '../blobs/index.ts';

/** A catalog blob by blob, each decoded by its schema. @throws BlobError as `toConfig` */
export async function* decodedParts(blobs: AsyncIterable<Blob>): AsyncGenerator<CatalogConfig> {
  for await (const blob of blobs) yield configOf(blob);
}

/** A catalog of one blob, decoded by its schema. @throws BlobError as `toConfig` */
export function configOf(blob: Blob): CatalogConfig {
  const draft = new ConfigDraft();
  draft.add(blob);
  return draft;
}

/**
 * All blobs of a catalog, decoded by their schema, in memory.
 * @throws BlobError for the first blob with a field of the wrong type.
 */
export async function toConfig(
  blobs: AsyncIterable<Blob> | Iterable<Blob>,
): Promise<CatalogConfig> {
  const draft = new ConfigDraft();
  for await (const blob of blobs) draft.add(blob);
  return draft;
}

class ConfigDraft implements CatalogConfig {
  readonly packages: OlmPackage[] = [];
  readonly channels: OlmChannel[] = [];
  readonly bundles: OlmBundle[] = [];
  readonly deprecations: OlmDeprecations[] = [];
  readonly others: CustomBlob[] = [];

  add(blob: Blob): void {
    switch (blob.schema) {
      case 'olm.package':
        this.packages.push(decodePackage(blob));
        break;
      case 'olm.channel':
        this.channels.push(decodeChannel(blob));
        break;
      case 'olm.bundle':
        this.bundles.push(decodeBundle(blob));
        break;
      case 'olm.deprecations':
        this.deprecations.push(decodeDeprecations(blob));
        break;
      default:
        this.others.push({
          schema: blob.schema,
          package: blob.package,
          name: blob.name,
          value: blob.value,
        });
    }
  }
}
