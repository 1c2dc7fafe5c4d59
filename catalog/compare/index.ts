export { diffCatalogs } from './diff/diff.ts';
export type {
  CatalogDiff,
  ChannelDiff,
  FieldChange,
  NamedChange,
  PackageDiff,
  Stranded,
} from './diff/diff-model.ts';
export { type LintOptions, lintCatalog } from './lint/lint.ts';
export type { Finding, LintLevel } from './lint/lint-model.ts';
export { lintRules } from './lint/lint-rules.ts';
export { pruneCatalog } from './prune/prune.ts';
export {
  type CatalogSelection,
  type ChosenVersions,
  type PackageSelection,
  readSelection,
  type SelectedChannel,
  versionsBetween,
  versionsInRange,
  type WrittenSelection,
} from './prune/selection.ts';
