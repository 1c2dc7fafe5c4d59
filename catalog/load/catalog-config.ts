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
  for await (const blob of blobs) yield await toConfig([blob]);
}

/**
 * All blobs of a catalog, decoded by their schema, in memory.
 * @throws BlobError for the first blob with a field of the wrong type.
 */
export async function toConfig(
  blobs: AsyncIterable<Blob> | Iterable<Blob>,
): Promise<CatalogConfig> {
  const packages: OlmPackage[] = [];
  const channels: OlmChannel[] = [];
  const bundles: OlmBundle[] = [];
  const deprecations: OlmDeprecations[] = [];
  const others: CustomBlob[] = [];
  for await (const blob of blobs) {
    switch (blob.schema) {
      case 'olm.package':
        packages.push(decodePackage(blob));
        break;
      case 'olm.channel':
        channels.push(decodeChannel(blob));
        break;
      case 'olm.bundle':
        bundles.push(decodeBundle(blob));
        break;
      case 'olm.deprecations':
        deprecations.push(decodeDeprecations(blob));
        break;
      default:
        others.push({
          schema: blob.schema,
          package: blob.package,
          name: blob.name,
          value: blob.value,
        });
    }
  }
  return { packages, channels, bundles, deprecations, others };
}
