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
export {
  chooseProvider,
  meetsDemands,
  type ProviderChoice,
  type ProviderRequest,
} from './provider-choice.ts';
export { limitFailure } from './resolution-failure.ts';
export { explainPackage, resolvePackage } from './resolve-package.ts';
