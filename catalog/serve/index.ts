export { CatalogFollower } from './catalog-follower.ts';
export { type CatalogPlace, parseCatalogPlace } from './catalog-place.ts';
export { ContentCache, StaleCacheError } from './content-cache.ts';
export { checkCustomSchemas } from './grpc/custom-schemas.ts';
export { RegistryServer } from './grpc/registry-server.ts';
export type { CatalogHandlerOptions } from './http/catalog-handler.ts';
export { CatalogHttpServer } from './http/catalog-http-server.ts';
export type { RequestedCatalog } from './http/request-target.ts';
export { type BorrowedContent, type ServableContent, ServedCatalog } from './served-catalog.ts';
