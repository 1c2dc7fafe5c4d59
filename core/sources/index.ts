export { createConfigMapsSource } from './configmaps/index.ts';
export { gitType } from './git/git-type.ts';
export { repositoryAddress } from './git/repository-address.ts';
export { createHttpSource } from './http/index.ts';
export { createImageSource, ImagePuller, type ImagePullerOptions } from './image/index.ts';
export { builtInTypes } from './source-types.ts';
export { createUploadSource } from './upload/index.ts';
