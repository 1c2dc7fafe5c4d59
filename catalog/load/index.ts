export { configOf, decodedParts, toConfig } from './catalog-config.ts';
export { loadDirectory } from './load-directory.ts';
export { type OpenCatalogOptions, type OpenedCatalog, openCatalog } from './open-catalog.ts';
