export { readJsonStream, toJsonDocuments } from './json-documents.ts';
export { checkMetadata, isJsonObject, jsonType } from './json-types.ts';
export {
  checkPlainObjects,
  distinctObjects,
  type ManifestFile,
  type ManifestParser,
  objectsOf,
  type PlainObjects,
  parsingOnce,
  type ReadManifestsOptions,
  readManifestFiles,
  readPlainBundle,
} from './manifest-files.ts';
export { checkObjectCount, checkObjectSize, leftOutMessage, withoutLeftOut } from './objects.ts';
export { parseManifests, parseObjects, parseYaml, splitDocuments } from './parse-manifests.ts';
export { toYaml } from './write-yaml.ts';
export { composeDocument } from './yaml/composed-document.ts';
export { indentQuotedLines } from './yaml/indent-quoted-lines.ts';
export { decodeYamlText, lineAt } from './yaml/yaml-text.ts';
