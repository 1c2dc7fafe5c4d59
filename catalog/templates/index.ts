export { renderSemver } from './render-semver.ts';
export type { BundleRenderer } from './template.ts';
