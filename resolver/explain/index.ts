export { consideredGroups, type RuledOut } from './considered.ts';
export type { ConsideredBundle, ConsideredGroup, Explanation } from './explanation.ts';
export { explanationText } from './explanation-text.ts';
export { type PathRequest, pathTo, type UpgradePath, type UpgradeStep } from './path-to.ts';
