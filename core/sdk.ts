/**
 * The one door for authors of provisioners and sources (`rukpak-ts/sdk`): the contracts, and what it
 * takes to read and write bundle content. Nothing here reaches a cluster.
 */
export { BundleFilesBuilder, defaultLimits, unpackBundle } from './content/index.ts';
export {
  checkPlainObjects,
  type ManifestFile,
  objectsOf,
  type PlainObjects,
  parseManifests,
  parseObjects,
  parseYaml,
  type ReadManifestsOptions,
  readManifestFiles,
  readPlainBundle,
  toJsonDocuments,
  toYaml,
} from './manifests/index.ts';

import {
  contractVersion,
  type DefinedProvisioner,
  type Provisioner,
} from './contracts/provisioner.ts';

export type { JsonObject, JsonValue } from '../api/json.ts';
export { parseJson, stringifyJson } from '../api/json.ts';
export type { KubernetesObject, ObjectMeta } from '../api/meta.ts';
export { hashObject, sortedMap } from '../api/object-hash.ts';
export type { Bundle, BundleSource, BundleSpec, BundleTemplate } from '../api/v1alpha1/bundle.ts';
export type { BundleDeployment } from '../api/v1alpha1/bundle-deployment.ts';
export type { BundleFiles, ContentLimits } from './contracts/bundle-files.ts';
export type { Logger } from './contracts/logger.ts';
export type {
  BundleHandler,
  ClusterFacts,
  ClusterProxy,
  ConfigureHandler,
  DefinedProvisioner,
  DeploymentContext,
  DeploymentHandler,
  InputReference,
  InputsHandler,
  Provisioner,
  ProvisionerContext,
} from './contracts/provisioner.ts';
export type {
  ConfigMapReader,
  ContentMemory,
  SecretContent,
  SecretReader,
  Source,
  SourceContext,
  SourcePin,
  SourceResult,
  SourceServer,
  SourceType,
} from './contracts/source.ts';
export type { ContentKey } from './contracts/store.ts';
export {
  defineSource,
  type FetchedContent,
  type ParametersSchema,
  type SourceDefinition,
} from './define-source.ts';
export { errorMessage, TerminalError, WaitingError } from './errors.ts';

/** Types a provisioner class at its definition, and notes the contract that it is written for. */
export function defineProvisioner(provisioner: Provisioner): DefinedProvisioner {
  return { ...provisioner, contractVersion };
}
