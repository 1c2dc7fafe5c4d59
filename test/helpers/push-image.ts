/** Images for tests are made as the demo makes its own. */
export { layerArchive, tarArchive } from '../../deploy/local/registry/layer-archive.ts';
export { pushImage, pushIndex } from '../../deploy/local/registry/push-image.ts';
