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
export { BlobError, placedError } from './blob-error.ts';
export { blobOfValue } from './blob-value.ts';
export { decodeBundle, decodeChannel, decodeDeprecations, decodePackage } from './decode.ts';
export { goYaml } from './go-yaml/go-yaml.ts';
export { iconMediaType } from './icon-type.ts';
export { endOfString, indentedText } from './json/json-marks.ts';
export { htmlEscaped, jsonText, stringText } from './json/json-text.ts';
export { ownText } from './json/own-text.ts';
export {
  any,
  decodeAs,
  flag,
  listOfShape,
  type Shape,
  type StructShape,
  struct,
  text,
  textMap,
  texts,
  writeAs,
} from './json/typed-json.ts';
export { type NewPackage, newPackage } from './new-package.ts';
export { readBlobs, readObjects } from './read-blobs.ts';
export { writeJson, writeYaml } from './write-config.ts';
