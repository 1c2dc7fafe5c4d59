export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isKindNotFound,
  isNotFound,
  isObjectNotFound,
} from './api-error.ts';
export { Backoff } from './backoff.ts';
export { type ClockOffset, clockProblem } from './clock-offset.ts';
export { createConfigMapReader } from './config-map-reader.ts';
export { connect, type KubeConnection } from './connect.ts';
export {
  apiServiceResource,
  configMapResource,
  definitionResource,
  podResource,
  secretResource,
  serviceAccountResource,
} from './core-resources.ts';
export { CredentialSource, type Credentials, type TlsOptions } from './credentials.ts';
export { withDeadline } from './deadline.ts';
export type { Discovery, NamespacedKinds, ServedApis } from './discovery.ts';
export { aggregatedDiscovery } from './discovery-client.ts';
export { homeFolder } from './home-folder.ts';
export type { KubeClient } from './kube-client.ts';
export { type Kubeconfig, type KubeconfigOptions, loadKubeconfig } from './kubeconfig.ts';
export { toLibraryKubeconfig } from './library-kubeconfig.ts';
export { listAll } from './list-all.ts';
export { liveObject } from './live-object.ts';
export { acceptMetadata, versionOnly } from './metadata-only.ts';
export { collectionPath, queryString } from './object-url.ts';
export { podNamespace } from './pod-namespace.ts';
export { Reflector, type ReflectorOptions, type ReflectorSink } from './reflector.ts';
export {
  apiVersionOf,
  type GroupVersionKind,
  gvkOf,
  keyOf,
  type ObjectKey,
  type Resource,
} from './resource.ts';
export { compareResourceVersions } from './resource-version.ts';
export { createSecretReader } from './secret-reader.ts';
export { unlessGone } from './unless-gone.ts';
