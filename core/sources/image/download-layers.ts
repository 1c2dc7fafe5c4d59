import type { UnpackOptions } from '../../content/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import type { Descriptor, ImageManifest, RegistryClient } from '../../registry/index.ts';
import { LayeredTree, layerError } from './layers.ts';

/** The files of an image's layers, the bottom one first; each digest is checked. */
export async function downloadLayers(
  client: RegistryClient,
  { layers, isArtifact }: ImageManifest,
  options: UnpackOptions,
): Promise<BundleFiles> {
  checkCompressedSize(layers, options.limits);
  const tree = new LayeredTree({ ...options, isSystem: !isArtifact });
  for (const layer of layers) {
    const blob = client.blob(layer, options.signal);
    try {
      await tree.apply(blob);
      await blob.verify();
    } catch (error) {
      throw layerError(layer.digest, error);
    } finally {
      blob.close();
    }
  }
  return tree.tree.bundleFiles(options.limits);
}

function checkCompressedSize(layers: readonly Descriptor[], { maxBytes }: ContentLimits): void {
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (size <= maxBytes) return;
  throw new TerminalError(
    `the image's layers have ${size} bytes, over the limit of ${maxBytes} (--max-content-bytes)`,
  );
}
