export type {
  AbsentCatalog,
  CatalogContents,
  CatalogIdentity,
  CatalogKind,
  ContentChange,
  FoundPackage,
  ProvidingPackages,
  ServingCatalog,
  StoredContents,
} from './catalog-contents.ts';
export {
  type CatalogControllers,
  type CatalogControllersOptions,
  catalogControllers,
} from './catalog-controllers.ts';
export { contentOf, recordOf } from './content/package-record.ts';
export { catalogAdapter } from './kinds/catalog.ts';
export { clusterCatalogAdapter } from './kinds/cluster-catalog.ts';
export type { PackageAnswer } from './resolution/package-answer.ts';
export {
  type AskedPackage,
  inlineResolver,
  type PackageResolver,
} from './resolution/package-resolver.ts';
