export type { MirrorRegistry } from './carried-images.ts';
export { isCarriedPlace } from './carried-place.ts';
export { type CarryResult, mirrorToCarried, pushCarried } from './carry.ts';
export { type ImageSet, readImageSet } from './image-set/image-set.ts';
export {
  type MirrorOptions,
  type MirrorResult,
  mirrorToRegistry,
  parseMirrorRegistry,
  type WrittenFiles,
  writeMirrorFiles,
  writeRecordFile,
} from './mirror.ts';
export type { MirrorEvent } from './mirror-event.ts';
