export { dependenciesOf } from './dependencies.ts';
export type {
  InstalledBundle,
  PackageContents,
  PackageRequest,
  PresentBundle,
  Surroundings,
  UnavailableCatalog,
} from './package-request.ts';
export type {
  Dependency,
  FailedPackage,
  NewestBundle,
  PackageResolution,
  ResolvedPackage,
} from './package-resolution.ts';
export { explainPackage, resolvePackage } from './resolve-package.ts';
