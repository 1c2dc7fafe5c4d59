export { diffCatalogs } from './diff.ts';
export type {
  CatalogDiff,
  ChannelDiff,
  FieldChange,
  NamedChange,
  PackageDiff,
  Stranded,
} from './diff-model.ts';
export { pruneCatalog } from './prune.ts';
export {
  type CatalogSelection,
  type ChosenVersions,
  type PackageSelection,
  readSelection,
  type SelectedChannel,
  versionsBetween,
  versionsInRange,
  type WrittenSelection,
} from './selection.ts';
