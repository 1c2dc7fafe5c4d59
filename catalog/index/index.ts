export { type BlobQuery, type ByteRange, CatalogIndex, type IndexedBlob } from './catalog-index.ts';
export { attributesDigest, contentDigest } from './source-digest.ts';
export { type BlobToStore, StoredCatalog, storeCatalog } from './stored-catalog.ts';
