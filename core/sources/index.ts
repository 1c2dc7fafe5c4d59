import type { SourceType } from '../contracts/source.ts';
import { configMapsType } from './config-maps-source.ts';
import { gitType } from './git/git-type.ts';
import { httpType } from './http-source.ts';
import { imageType } from './image/image-source.ts';
import { uploadType } from './upload-source.ts';

export { createConfigMapsSource } from './config-maps-source.ts';
export { gitType } from './git/git-type.ts';
export { repositoryAddress } from './git/repository-address.ts';
export { createHttpSource } from './http-source.ts';
export { ImagePuller, type ImagePullerOptions } from './image/image-puller.ts';
export { createImageSource } from './image/image-source.ts';
export { createUploadSource } from './upload-source.ts';

/** Core's own types of sources. */
export const builtInTypes: readonly SourceType[] = [
  imageType,
  gitType,
  httpType,
  configMapsType,
  uploadType,
];
