export type { ImagePullerOptions, PulledImage, PullOptions } from './image-puller.ts';
export { ImagePuller } from './image-puller.ts';
export { createImageSource } from './image-source.ts';
