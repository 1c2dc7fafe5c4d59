export { type NamedPlace, parsePlace } from './access/named-place.ts';
export {
  type ImageToVerify,
  type ImageVerifier,
  type OpenedImage,
  openLayout,
  type PullIdentity,
  RegistryAccess,
  type RegistryAccessOptions,
} from './access/registry-access.ts';
export {
  type RegistryFiles,
  type RegistrySettings,
  readRegistrySettings,
} from './access/registry-settings.ts';
export { VerifiedBlob } from './blob.ts';
export {
  type Credentials,
  emptyKeychain,
  type Keychain,
  matchesHost,
  parseDockerConfig,
} from './configuration/keychain.ts';
export type {
  BlobToPush,
  ImagePlace,
  ImageTarget,
  ManifestContent,
  ManifestToPush,
  OpenedTarget,
  PushOutcome,
} from './configuration/place.ts';
export {
  joinedFailure,
  PullFailure,
  type PullPlace,
  type PullPlaces,
  pullError,
  pullPlaces,
  type RegistriesConfig,
} from './configuration/pull-places.ts';
export { type PullSecret, readPullSecret } from './configuration/pull-secret.ts';
export { readRegistriesConf } from './configuration/registries-conf.ts';
export {
  type RegistryCertificates,
  readRegistryCertificates,
} from './configuration/registry-certificates.ts';
export { blobBytes } from './copy/blob-bytes.ts';
export { type CopyImage, copyImage } from './copy/copy-image.ts';
export { HostLimits } from './copy/host-limits.ts';
export {
  type CopySource,
  type CopyTarget,
  ImageCopier,
  type KeptTag,
} from './copy/image-copier.ts';
export {
  type ImageToRead,
  parsePlatform,
  readWholeImage,
  type WholeImage,
} from './copy/whole-image.ts';
export { discard, type TransportResponse } from './http/response.ts';
export { credentialsKey, TokenService } from './http/token-service.ts';
export { Transport } from './http/transport.ts';
export { Transports } from './http/transports.ts';
export {
  type Descriptor,
  type ImageManifest,
  parseManifest,
  type TypedDescriptor,
} from './manifest.ts';
export { type ManifestParts, manifestParts } from './manifest-parts.ts';
export { mediaTypes } from './media-types.ts';
export { nodePlatform, type Platform } from './platform.ts';
export { RegistryTarget } from './push/registry-target.ts';
export {
  canonicalRepository,
  digestOf,
  digestProblem,
  type ImageReference,
  manifestReference,
  normalPattern,
  parseImageReference,
  registryHost,
  repositoryName,
  spellings,
} from './reference.ts';
export { fallbackTag, indexOf, referrersOf } from './referrers.ts';
export { RegistryClient } from './registry-client.ts';
export {
  DeniedError,
  isMissing,
  layerError,
  MismatchError,
  RefusedRequest,
  UnavailableError,
} from './registry-errors.ts';
