/**
 * For tests of provisioners and sources (`rukpak-ts/testing`): the suites for every class and every
 * source, and builders for their arguments. Works with node:test and with vitest.
 */

export { bundleFiles, type FileTexts } from './content.ts';
export { aContext, aSourceContext, type SourceContextOptions } from './contexts.ts';
export {
  aBundle,
  aBundleDeployment,
  type BundleDeploymentOptions,
  type BundleOptions,
} from './objects.ts';
export {
  describeProvisioner,
  type ProvisionerSuiteOptions,
} from './provisioner/describe-provisioner.ts';
export type {
  AcceptedContent,
  ConfiguredContent,
  DeploymentFixture,
  ProvisionerFixtures,
  RefusedContent,
} from './provisioner/fixtures.ts';
export { describeSource } from './source/describe-source.ts';
export type { FetchedSource, RefusedSource, SourceFixtures } from './source/fixtures.ts';
export type { RefusalName, SuiteOptions, TestFunction } from './suite.ts';
