import type { SourceType } from '../contracts/source.ts';
import { configMapsType } from './configmaps/config-maps-source.ts';
import { gitType } from './git/git-type.ts';
import { httpType } from './http/http-source.ts';
import { imageType } from './image/image-source.ts';
import { uploadType } from './upload/upload-source.ts';

/** Core's own types of sources. */
export const builtInTypes: readonly SourceType[] = [
  imageType,
  gitType,
  httpType,
  configMapsType,
  uploadType,
];
