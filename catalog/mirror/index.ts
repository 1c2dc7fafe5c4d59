export type { MirrorRegistry } from './carried-images.ts';
export { type ImageSet, readImageSet } from './image-set.ts';
export {
  type MirrorOptions,
  type MirrorResult,
  mirrorToDirectory,
  mirrorToRegistry,
  parseMirrorRegistry,
  pushDirectory,
  writeMirrorFiles,
} from './mirror.ts';
export type { MirrorEvent } from './mirror-run.ts';
