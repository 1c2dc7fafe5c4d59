import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { RegistryAccess } from '../../../core/registry/index.ts';
import { unpackTemporarily } from '../../images/index.ts';
import { firstDocument } from '../../render/index.ts';
import { imagesOfManifests } from './bundle-images.ts';

export interface BundleOptions {
  readonly access: RegistryAccess;
  readonly signal: AbortSignal;
}

const manifestsLabel = 'operators.operatorframework.io.bundle.manifests.v1';
/** The largest public bundles have 7 MB. */
const maxBytes = 256 * 1024 * 1024;

/**
 * The images that the ClusterServiceVersion of a bundle's image names, each once: catalogs do not
 * repeat those of its variables.
 * @throws TerminalError for manifests that cannot be read; errors of the registry
 */
export async function imagesOfBundle(
  bundle: string,
  { access, signal }: BundleOptions,
): Promise<readonly string[]> {
  const options = { registry: access, signal, only: manifestsOf, maxBytes };
  const image = await unpackTemporarily(bundle, options);
  try {
    return imagesOfManifests(await serviceVersions(join(image.dir, manifestsOf(image.labels))));
  } finally {
    await image.close();
  }
}

/** A path within the image, whatever the label says. */
function manifestsOf(labels: Readonly<Record<string, string>>): string {
  return join('/', labels[manifestsLabel] ?? 'manifests');
}

async function serviceVersions(folder: string): Promise<readonly unknown[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new TerminalError(`the bundle has no manifests: label ${manifestsLabel} names none`);
  });
  const found: unknown[] = [];
  for (const entry of entries) {
    const content = entry.isFile() ? await readFile(join(folder, entry.name)) : undefined;
    // Others may be large, or odd.
    if (content?.includes('ClusterServiceVersion') !== true) continue;
    try {
      found.push(firstDocument(content).value);
    } catch (error) {
      throw new TerminalError(
        `its images are not all known, as ${entry.name} cannot be read: ${errorMessage(error)}`,
        { cause: error },
      );
    }
  }
  return found;
}
