/** Images for tests are made as the demo makes its own. */
export { layerArchive, tarArchive } from '../../deploy/local/registry/layer-archive.ts';
export {
  pushBlob,
  pushImage,
  pushIndex,
  pushManifest,
} from '../../deploy/local/registry/push-image.ts';
