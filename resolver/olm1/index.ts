export type {
  InstalledBundle,
  PackageContents,
  PackageRequest,
  PresentBundle,
  Surroundings,
  UnavailableCatalog,
  UpgradePolicy,
} from './package-request.ts';
export type {
  Dependency,
  FailedPackage,
  NewestBundle,
  PackageResolution,
  ResolvedPackage,
} from './package-resolution.ts';
