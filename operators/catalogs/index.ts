export type {
  AbsentCatalog,
  CatalogContents,
  CatalogIdentity,
  CatalogKind,
  ContentChange,
  FoundPackage,
  ServingCatalog,
} from './catalog-contents.ts';
