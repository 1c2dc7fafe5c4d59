export type {
  Blob,
  BlobPlace,
  CatalogConfig,
  ChannelEntry,
  CustomBlob,
  DeprecationEntry,
  Icon,
  OlmBundle,
  OlmChannel,
  OlmDeprecations,
  OlmPackage,
  Property,
  RelatedImage,
} from './blob.ts';
export { goYaml } from './go-yaml.ts';
export { type NewPackage, newPackage } from './new-package.ts';
export { writeJson, writeYaml } from './write-config.ts';
