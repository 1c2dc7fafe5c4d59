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
