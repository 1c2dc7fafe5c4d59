export { installedCatalog } from './entries/installed-entries.ts';
export type {
  ApiDescriptions,
  CatalogContent,
  CustomResourceDefinition,
  InstalledBundle,
  NamespaceRequest,
  Subscription,
} from './namespace-request.ts';
export type {
  BundleToInstall,
  FailedNamespace,
  GeneratedSubscription,
  NamespaceResolution,
  ResolvedNamespace,
} from './namespace-resolution.ts';
export { type NamespaceResolutionOptions, resolveNamespace } from './resolve-namespace.ts';
