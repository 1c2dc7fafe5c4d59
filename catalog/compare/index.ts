export { diffCatalogs } from './diff.ts';
export type {
  CatalogDiff,
  ChannelDiff,
  FieldChange,
  NamedChange,
  PackageDiff,
  Stranded,
} from './diff-model.ts';
export { type LintOptions, lintCatalog } from './lint.ts';
export type { Finding, LintLevel } from './lint-model.ts';
export { lintRules } from './lint-rules.ts';
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
