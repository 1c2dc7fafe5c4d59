export type {
  AbsentCatalog,
  CatalogContents,
  CatalogIdentity,
  CatalogKind,
  ContentChange,
  FoundPackage,
  ServingCatalog,
} from './catalog-contents.ts';
export {
  type CatalogControllers,
  type CatalogControllersOptions,
  catalogControllers,
} from './catalog-controllers.ts';
export { contentOf, recordOf } from './content/package-record.ts';
export { catalogAdapter } from './kinds/catalog.ts';
export { clusterCatalogAdapter } from './kinds/cluster-catalog.ts';
