export { type BuildOptions, buildBundleImage, buildCatalogImage } from './build-image.ts';
export { BuiltImage, type ImageContent, type ImageFormat } from './built-image.ts';
export {
  type BundleConfigMap,
  bundleConfigMap,
  type ConfigMapFile,
  type ConfigMapOptions,
} from './bundle/bundle-config-map.ts';
export {
  type BundleDockerfile,
  type BundleMetadata,
  bundleAnnotations,
  bundleDockerfile,
  bundleLabels,
} from './bundle/bundle-metadata.ts';
export { type GenerateBundle, generateBundle } from './bundle/generate-bundle.ts';
export {
  type CatalogDockerfile,
  catalogDockerfile,
  configsLabel,
} from './catalog-dockerfile.ts';
export { type PlatformImage, platformImage, platformManifest } from './opened-image.ts';
export {
  type TemporaryImage,
  type UnpackTemporarily,
  unpackTemporarily,
} from './temporary-image.ts';
export { type UnpackImageOptions, unpackImage } from './unpack-image.ts';
