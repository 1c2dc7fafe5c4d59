export { digestProblem } from './digest.ts';
export { matchesHost } from './host-pattern.ts';
export { discard, type TransportResponse } from './http-answer.ts';
export { type Credentials, emptyKeychain, type Keychain, parseDockerConfig } from './keychain.ts';
export { type Descriptor, type ImageManifest, parseManifest } from './manifest.ts';
export { nodePlatform, type Platform } from './platform.ts';
export { joinedFailure, PullFailure, pullError } from './pull-errors.ts';
export { type PullPlace, type PullPlaces, pullPlaces } from './pull-places.ts';
export { quoted } from './quoted.ts';
export { readRegistriesConf } from './read-registries-conf.ts';
export {
  type ImageReference,
  manifestReference,
  parseImageReference,
  registryHost,
  repositoryName,
} from './reference.ts';
export type { RegistriesConfig } from './registries-config.ts';
export { type RegistryCertificates, readRegistryCertificates } from './registry-certificates.ts';
export { type ManifestContent, RegistryClient } from './registry-client.ts';
export { DeniedError, UnavailableError } from './registry-errors.ts';
export { SharedWork } from './shared-work.ts';
export { credentialsKey, TokenService } from './token-service.ts';
export { Transport } from './transport.ts';
export { Transports } from './transports.ts';
