export {
  ApiError,
  hasCode,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isKindNotFound,
  isNotFound,
  isObjectNotFound,
  unlessGone,
  unlessNotFound,
} from './api-error.ts';
export { createConfigMapReader, createSecretReader } from './config/configuration-readers.ts';
export {
  CredentialSource,
  type Credentials,
  type TlsOptions,
  toLibraryKubeconfig,
} from './config/credentials.ts';
export {
  homeFolder,
  type Kubeconfig,
  type KubeconfigOptions,
  loadKubeconfig,
  podNamespace,
} from './config/kubeconfig.ts';
export { type ClockOffset, clockProblem, connect, type KubeConnection } from './connect.ts';
export { oldestMinor } from './discovery/discovered-groups.ts';
export {
  aggregatedDiscovery,
  awaitResource,
  type Discovery,
  type NamespacedKinds,
  type ServedApis,
} from './discovery/discovery.ts';
export { isEstablished } from './discovery/unlisted-kinds.ts';
export { type KubeClient, liveObject } from './kube-client.ts';
export { listedMetadata } from './listed-metadata.ts';
export { acceptMetadata, collectionPath, queryString, versionOnly } from './object-url.ts';
export { listAll } from './reflector/list.ts';
export { Reflector } from './reflector/reflector.ts';
export type { ReflectorOptions, ReflectorSink } from './reflector/reflector-options.ts';
export {
  apiServiceResource,
  clusterRoleBindingResource,
  compareResourceVersions,
  configMapResource,
  definitionResource,
  deploymentResource,
  formatKey,
  keyOf,
  namespaceResource,
  type ObjectKey,
  podResource,
  type Resource,
  secretResource,
  serviceAccountResource,
} from './resource.ts';
export { isUnreachable } from './transport.ts';
