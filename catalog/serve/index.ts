export { CatalogHttpServer } from './catalog-http-server.ts';
export { type CatalogPlace, contentOfPlace, parseCatalogPlace } from './catalog-place.ts';
export { ContentCache } from './content-cache.ts';
export { ServedCatalog } from './served-catalog.ts';
