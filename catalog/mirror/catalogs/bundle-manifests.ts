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
 * The images in the ClusterServiceVersion of a bundle's image, without duplicates: catalogs lack
 * those of its environment variables.
 * @throws TerminalError for unreadable manifests; errors of the registry
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

/** The path of the manifests; it stays within the image, whatever the label contains. */
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
    // Other manifests may be large or invalid.
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
