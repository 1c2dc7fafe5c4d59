import { TerminalError } from '../../core/errors.ts';
import type { CatalogConfig, OlmBundle } from '../blobs/index.ts';
import { toConfig } from '../load/index.ts';
import type { BundleRenderer } from './bundle-renderer.ts';
import { readEntries } from './template-entries.ts';

/** Renders an `olm.template.basic`: blobs, with only schema and image of bundles. */
export async function renderBasic(
  content: Uint8Array,
  renderBundle: BundleRenderer,
): Promise<CatalogConfig> {
  const { blobs } = readEntries(content, 'olm.template.basic');
  const config = await toConfig(blobs());
  const bundles: OlmBundle[] = [];
  for (const bundle of config.bundles) {
    if (!isImageAlone(bundle)) {
      throw new TerminalError('unexpected fields present in basic template bundle');
    }
    bundles.push(...(await renderBundle(bundle.image)).map((rendered) => rendered.bundle));
  }
  return { ...config, bundles };
}

function isImageAlone({ image, package: packageName, ...lists }: OlmBundle): boolean {
  const { properties, relatedImages } = lists;
  return image !== '' && packageName === '' && properties.length + relatedImages.length === 0;
}
