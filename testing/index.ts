/**
 * For tests of provisioners and sources (`rukpak-ts/testing`): the suites that every class and every
 * source has to pass, and builders for what they are given. Works with node:test and with vitest.
 */

export type { RefusalName } from './assert-refusal.ts';
export { aBundle, type BundleOptions } from './builders/bundle.ts';
export { aBundleDeployment, type BundleDeploymentOptions } from './builders/bundle-deployment.ts';
export { bundleFiles, type FileTexts } from './builders/bundle-files.ts';
export { aContext } from './builders/context.ts';
export { aSourceContext, type SourceContextOptions } from './builders/source-context.ts';
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
export type { SuiteOptions, TestFunction } from './suite-options.ts';
