import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../../core/errors.ts';
import type { OpenedImage } from '../../../core/registry/index.ts';
import { shortList } from '../../../core/short-list.ts';
import { configsLabel, unpackImage } from '../../images/index.ts';
import { loadDirectory } from '../../load/index.ts';
import type { ReplacedCatalog } from '../image-to-copy.ts';

/**
 * A sentence about the bundles that a catalog of the target has and the next one lacks; undefined
 * for none. Clusters may have them installed, and the next catalog says nothing about them.
 */
export async function lossesOf(
  { name, tag, before, after }: ReplacedCatalog,
  signal: AbortSignal,
): Promise<string | undefined> {
  const catalog = `${name}:${tag}`;
  try {
    const [old, now] = [await bundlesOf(before, signal), await bundlesOf(after, signal)];
    const lost = [...old.difference(now)].toSorted();
    if (lost.length === 0) return undefined;
    return `${catalog} no longer has ${shortList(lost, 10)}: an Operator that has such a bundle installed finds no upgrade, and a ClusterExtension only one that replaces or skips it; to have it again, set a minVersion that is not above it, and run the same command again`;
  } catch (error) {
    signal.throwIfAborted();
    return `${catalog} is replaced, and which bundles it loses is not known: ${errorMessage(error)}`;
  }
}

/** Names of the bundles in the image of a catalog; none if it is no file-based one. */
async function bundlesOf(image: OpenedImage, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-replaced-'));
  try {
    const directory = join(folder, 'image');
    const labels = await unpackImage(image, directory, { only: pathOf, signal });
    const names = new Set<string>();
    for await (const { schema, name } of loadDirectory(join(directory, pathOf(labels)), {
      signal,
    })) {
      if (schema === 'olm.bundle') names.add(name);
    }
    return names;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function pathOf(labels: Readonly<Record<string, string>>): string {
  return join('/', labels[configsLabel] ?? '/configs');
}
