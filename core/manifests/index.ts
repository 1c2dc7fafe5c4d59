export { readJsonStream } from './json-documents.ts';
export { isJsonObject } from './json-type.ts';
export { withoutLeftOut } from './left-out.ts';
export {
  type ManifestFile,
  type ReadManifestsOptions,
  readManifestFiles,
} from './manifest-files.ts';
export { checkMetadata } from './metadata-types.ts';
export { checkObjectCount, checkObjectSize } from './object-bounds.ts';
export { parseManifests, parseObjects } from './parse-manifests.ts';
export {
  checkPlainObjects,
  distinctObjects,
  objectsOf,
  type PlainObjects,
  readPlainBundle,
} from './plain-bundle.ts';
export { splitDocuments } from './split-documents.ts';
export { toJsonDocuments } from './write-json.ts';
export { toYaml } from './write-yaml.ts';
export { composeDocument } from './yaml/composed-document.ts';
export { indentQuotedLines } from './yaml/indent-quoted-lines.ts';
export { lineAt } from './yaml/yaml-error.ts';
export { decodeYamlText } from './yaml/yaml-text.ts';
export { parseYaml } from './yaml.ts';
