export {
  type ReadContent,
  RemoteCatalogs,
} from './catalogs/remote-catalogs.ts';
export {
  ClusterExtensions,
  type ExtensionKindName,
  extensionResources,
} from './extensions/cluster-extensions.ts';
export {
  type ExtensionExplanation,
  explainExtension,
  extensionPath,
} from './extensions/extension-answers.ts';
export {
  type ExtensionProgress,
  type ExtensionRow,
  extensionProgress,
  extensionRow,
} from './extensions/extension-row.ts';
export { planUpgrade, type UpgradePlan } from './extensions/upgrade-plan.ts';
export {
  differingFields,
  fieldManager,
  newExtension,
  otherManagers,
  type PackageWish,
  wishPatch,
  withWish,
} from './extensions/wanted-extension.ts';
export { closeNames } from './packages/close-names.ts';
export { type PackageInfo, packageInfo } from './packages/package-info.ts';
export {
  type AvailablePackage,
  packageNames,
  searchPackages,
} from './packages/package-search.ts';
