export {
  packBundle,
  tarEnd,
  tarHeader,
  tarPadding,
  tarParts,
  type WrittenEntry,
} from './bundle-archive.ts';
export {
  BundleFilesBuilder,
  checkFiles,
  defaultLimits,
  faultOfFiles,
  storedLimits,
} from './bundle-files-builder.ts';
export { ByteReader, type ByteStream } from './byte-reader.ts';
export { decompressed } from './decompress.ts';
export { filesDigest } from './files-digest.ts';
export { isLfsPointer } from './lfs-pointer.ts';
export { indexTar, type TarPlace } from './tar-index.ts';
export { readTar, type TarEntry } from './tar-reader.ts';
export { type UnpackOptions, unpackBundle, unpackFetched, unpackTar } from './unpack-bundle.ts';
