export type { ImagePullerOptions, PulledImage, PullOptions } from './image-puller.ts';
export { ImagePuller } from './image-puller.ts';
export { createImageSource } from './image-source.ts';
export type { Credentials, Keychain } from './keychain.ts';
export { emptyKeychain, parseDockerConfig } from './keychain.ts';
export type { Platform } from './platform.ts';
export { readRegistriesConf } from './read-registries-conf.ts';
export { readRegistryCertificates } from './registry-certificates.ts';
