export {
  type Credentials,
  emptyKeychain,
  type Keychain,
  matchesHost,
  parseDockerConfig,
} from './keychain.ts';
export {
  type Descriptor,
  type ImageManifest,
  nodePlatform,
  type Platform,
  parseManifest,
} from './manifest.ts';
export {
  joinedFailure,
  PullFailure,
  type PullPlace,
  type PullPlaces,
  pullError,
  pullPlaces,
  type RegistriesConfig,
} from './pull-places.ts';
export {
  digestProblem,
  type ImageReference,
  manifestReference,
  parseImageReference,
  registryHost,
  repositoryName,
} from './reference.ts';
export { readRegistriesConf } from './registries-conf.ts';
export { type RegistryCertificates, readRegistryCertificates } from './registry-certificates.ts';
export { type ManifestContent, RegistryClient } from './registry-client.ts';
export { DeniedError, UnavailableError } from './registry-errors.ts';
export { SharedWork } from './shared-work.ts';
export { credentialsKey, TokenService } from './token-service.ts';
export { discard, Transport, type TransportResponse, Transports } from './transport.ts';
