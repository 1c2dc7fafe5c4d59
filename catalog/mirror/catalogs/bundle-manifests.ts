import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { parseManifests } from '../../../core/manifests/index.ts';
import type { RegistryAccess } from '../../../core/registry/index.ts';
import { unpackTemporarily } from '../../images/index.ts';
import { firstDocument } from '../../render/index.ts';
import { imagesOfManifests, imagesOfPods } from './bundle-images.ts';

export interface BundleOptions {
  readonly access: RegistryAccess;
  readonly signal: AbortSignal;
}

const manifestsLabel = 'operators.operatorframework.io.bundle.manifests.v1';
/** The largest public bundles have 7 MB. */
const maxBytes = 256 * 1024 * 1024;

/**
 * The images in the ClusterServiceVersion of a bundle's image, without duplicates: catalogs lack
 * those of its environment variables. Of a plain bundle, those of the pods in its manifests.
 * @throws TerminalError for unreadable manifests; errors of the registry
 */
export async function imagesOfBundle(
  bundle: string,
  { access, signal }: BundleOptions,
): Promise<readonly string[]> {
  const options = { registry: access, signal, only: manifestsOf, maxBytes };
  const image = await unpackTemporarily(bundle, options);
  try {
    const folder = join(image.dir, manifestsOf(image.labels));
    const versions = await serviceVersions(folder);
    if (versions.length > 0) return imagesOfManifests(versions);
    const manifests = await allManifests(folder);
    return [...new Set([...imagesOfManifests(manifests), ...imagesOfPods(manifests)])];
  } finally {
    await image.close();
  }
}

/** The path of the manifests; it stays within the image, whatever the label contains. */
function manifestsOf(labels: Readonly<Record<string, string>>): string {
  return join('/', labels[manifestsLabel] ?? 'manifests');
}

async function serviceVersions(folder: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { name, content } of filesIn(folder)) {
    // Other manifests may be large or invalid.
    if (!content.includes('ClusterServiceVersion')) continue;
    const { value } = readable(name, () => firstDocument(content));
    if (stringAt(value, 'kind') === 'ClusterServiceVersion') found.push(value);
  }
  return found;
}

async function allManifests(folder: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { name, content } of filesIn(folder)) {
    found.push(...readable(name, () => parseManifests(name, content)));
  }
  return found;
}

interface ManifestFile {
  readonly name: string;
  readonly content: Buffer;
}

async function* filesIn(folder: string): AsyncGenerator<ManifestFile> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new TerminalError(`the bundle has no manifests: label ${manifestsLabel} names none`);
  });
  for (const entry of entries.filter((each) => each.isFile())) {
    yield { name: entry.name, content: await readFile(join(folder, entry.name)) };
  }
}

function readable<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new TerminalError(
      `its images are not all known, as ${name} cannot be read: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
